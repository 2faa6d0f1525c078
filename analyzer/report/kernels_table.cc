// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/full_tables.h"
#include "analyzer/report/text_notation.h"

namespace traceinject {
namespace {

using proto::Kernel;

constexpr ColumnOf<Kernel> kColumns[] = {
    {{"name", "name", Unit::kKernelName, Shown::kAlways, "demangled"},
     [](const Kernel& k) { return Cell(k.name()); }},
    {{"share", "share", Unit::kShare, Shown::kAlways, "of the time of all kernels"},
     [](const Kernel& k) { return Cell(k.share()); }},
    {{"total_ns", "total", Unit::kTime, Shown::kAlways,
      "sum of durations; parallel kernels count twice"},
     [](const Kernel& k) { return Cell(k.total_ns()); }},
    {{"count", "count", Unit::kCount, Shown::kAlways, "launches"},
     [](const Kernel& k) { return Cell(k.count()); }},
    {{"mean_ns", "mean", Unit::kTime, Shown::kIfItFits, "duration"},
     [](const Kernel& k) { return Cell(k.mean_ns()); }},
    {{"class", "class", Unit::kText, Shown::kIfItFits,
      "what it does, by its name; other: no rule knows"},
     [](const Kernel& k) { return Cell(k.kernel_class()); }},
    {{"max_ns", "max", Unit::kTime, Shown::kIfItFits, "longest"},
     [](const Kernel& k) { return Cell(k.max_ns()); }},
    {{"grid", "grid", Unit::kText, Shown::kIfItFits,
      "blocks of the most frequent launch, x by y by z"},
     [](const Kernel& k) { return Cell(DimsText(k.shape().grid())); }},
    {{"block", "block", Unit::kText, Shown::kIfItFits, "threads of a block of it"},
     [](const Kernel& k) { return Cell(DimsText(k.shape().block())); }},
    {{"min_ns", "min", Unit::kTime, Shown::kIfItFits, "shortest"},
     [](const Kernel& k) { return Cell(k.min_ns()); }},
    {{"cluster", "cluster", Unit::kText, Shown::kOnRequest, "blocks of a cluster of it"},
     [](const Kernel& k) {
       return k.shape().cluster_size() == 3 ? Cell(DimsText(k.shape().cluster())) : Cell();
     }},
    {{"registers", "registers", Unit::kCount, Shown::kOnRequest, "of a thread of it"},
     [](const Kernel& k) { return Cell(std::int64_t{k.shape().registers()}); }},
    {{"shared_bytes", "shared", Unit::kBytes, Shown::kOnRequest, "shared memory of a block of it"},
     [](const Kernel& k) { return Cell(k.shape().shared_bytes()); }},
    {{"shape_count", "like it", Unit::kCount, Shown::kOnRequest, "launches of that shape"},
     [](const Kernel& k) { return Cell(k.shape_count()); }},
};

}  // namespace

std::vector<TableColumn> KernelColumns() { return ColumnsOf<Kernel>(kColumns); }

Table KernelTable(const proto::Report& report) {
  return TableOf<Kernel>(kColumns, report.run().top_kernels());
}

}  // namespace traceinject
