// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/full_tables.h"

namespace traceinject {
namespace {

using proto::Kernel;

constexpr ColumnOf<Kernel> kKernelsColumns[] = {
    {{"name", "name", Unit::kKernelName, Shown::kAlways, "demangled"},
     [](const Kernel& k) { return Cell(k.name()); }},
    {{"share", "share", Unit::kShare, Shown::kAlways, "share of the time of all kernels"},
     [](const Kernel& k) { return Cell(k.share()); }},
    {{"total_ns", "total", Unit::kTime, Shown::kAlways,
      "sum of durations; parallel kernels count twice"},
     [](const Kernel& k) { return Cell(k.total_ns()); }},
    {{"count", "count", Unit::kCount, Shown::kAlways, "launches"},
     [](const Kernel& k) { return Cell(k.count()); }},
    {{"mean_ns", "mean", Unit::kTime, Shown::kIfItFits, "duration"},
     [](const Kernel& k) { return Cell(k.mean_ns()); }},
    {{"dtype", "type", Unit::kText, Shown::kIfItFits,
      "data type of the matrices, from the launching call, else from the kernel name"},
     [](const Kernel& k) { return TextIfAny(k.dtype()); }},
    {{"peak_share", "of peak", Unit::kShare, Shown::kIfItFits,
      "share of the published dense peak for that type"},
     [](const Kernel& k) { return CellIf(k.work().has_peak_share(), k.work().peak_share()); }},
    {{"tflops_per_s", "TFLOP/s", Unit::kNumber, Shown::kIfItFits,
      "for launches with FLOPs known from a GEMM or attention call"},
     [](const Kernel& k) { return CellIf(k.work().has_tflops_per_s(), k.work().tflops_per_s()); }},
    {{"class", "class", Unit::kKernelClass, Shown::kIfItFits,
      "what it does, by its name; csv and json have short names, docs/formats.md the list"},
     [](const Kernel& k) { return Cell(k.kernel_class()); }},
    {{"max_ns", "max", Unit::kTime, Shown::kIfItFits, "longest"},
     [](const Kernel& k) { return Cell(k.max_ns()); }},
    {{"grid", "grid", Unit::kText, Shown::kIfItFits,
      "grid of the most frequent launch, x by y by z blocks"},
     [](const Kernel& k) { return Cell(DimsText(k.shape().grid())); }},
    {{"block", "block", Unit::kText, Shown::kIfItFits, "threads per block"},
     [](const Kernel& k) { return Cell(DimsText(k.shape().block())); }},
    {{"min_ns", "min", Unit::kTime, Shown::kIfItFits, "shortest"},
     [](const Kernel& k) { return Cell(k.min_ns()); }},
    {{"cluster", "cluster", Unit::kText, Shown::kOnRequest, "blocks per cluster"},
     [](const Kernel& k) {
       return k.shape().cluster_size() == 3 ? Cell(DimsText(k.shape().cluster())) : Cell();
     }},
    {{"registers", "registers", Unit::kCount, Shown::kOnRequest, "registers per thread"},
     [](const Kernel& k) { return Cell(std::int64_t{k.shape().registers()}); }},
    {{"shared_bytes", "shared", Unit::kBytes, Shown::kOnRequest, "shared memory per block"},
     [](const Kernel& k) { return Cell(k.shape().shared_bytes()); }},
    {{"bound", "bound by", Unit::kText, Shown::kOnRequest,
      "compute or memory, by the roofline of the GPU's published rates"},
     [](const Kernel& k) { return TextIfAny(k.work().bound()); }},
    {{"above_ideal_ns", "above ideal", Unit::kTime, Shown::kOnRequest,
      "time above that at the rates good kernels reach: roughly the most that better kernels could "
      "save"},
     [](const Kernel& k) {
       return CellIf(k.work().has_above_ideal_ns(), k.work().above_ideal_ns());
     }},
    {{"reached_share", "of best", Unit::kShare, Shown::kOnRequest,
      "relative to what good GEMMs reach"},
     [](const Kernel& k) {
       return CellIf(k.work().has_reached_share(), k.work().reached_share());
     }},
    {{"flops_per_byte", "FLOP/B", Unit::kNumber, Shown::kOnRequest,
      "arithmetic intensity: FLOPs over the bytes of the matrices, each counted once"},
     [](const Kernel& k) {
       return CellIf(k.work().has_flops_per_byte(), k.work().flops_per_byte());
     }},
    {{"tensor_cores", "tensor cores", Unit::kText, Shown::kOnRequest, "by its name"},
     [](const Kernel& k) {
       return k.has_tensor_cores() ? Cell(k.tensor_cores() ? "yes" : "no") : Cell();
     }},
    {{"waves", "waves", Unit::kNumber, Shown::kOnRequest,
      "blocks of the most frequent launch over those resident on the GPU at once"},
     [](const Kernel& k) { return CellIf(k.shape().has_waves(), k.shape().waves()); }},
    {{"tail_share", "tail", Unit::kShare, Shown::kOnRequest,
      "share of SM time lost in a partial last wave"},
     [](const Kernel& k) { return CellIf(k.shape().has_tail_share(), k.shape().tail_share()); }},
    {{"occupancy_share", "occupancy", Unit::kShare, Shown::kOnRequest,
      "theoretical occupancy: resident threads over the SM's maximum"},
     [](const Kernel& k) {
       return CellIf(k.shape().has_occupancy_share(), k.shape().occupancy_share());
     }},
    {{"limited_by", "limited by", Unit::kText, Shown::kOnRequest,
      "what limits occupancy: threads, blocks, registers, shared memory"},
     [](const Kernel& k) { return TextIfAny(k.shape().limited_by()); }},
    {{"shape_count", "same shape", Unit::kCount, Shown::kOnRequest, "launches with that shape"},
     [](const Kernel& k) { return Cell(k.shape_count()); }},
};

}  // namespace

std::vector<TableColumn> KernelColumns() { return ColumnsOf<Kernel>(kKernelsColumns); }

Table KernelTable(const proto::Report& report) {
  return TableOf<Kernel>(kKernelsColumns, report.run().top_kernels());
}

}  // namespace traceinject
