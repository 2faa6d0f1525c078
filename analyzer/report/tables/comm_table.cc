// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/full_tables.h"

namespace traceinject {
namespace {

using proto::NcclRow;

constexpr ColumnOf<NcclRow> kCommColumns[] = {
    {{"function", "function", Unit::kText, Shown::kAlways,
      "NCCL function; Send+Recv and similar: issued as one group"},
     [](const NcclRow& row) { return Cell(row.function()); }},
    {{"ranks", "ranks", Unit::kOrdinal, Shown::kAlways, "communicator size"},
     [](const NcclRow& row) {
       return CellIf(row.has_communicator_size(), std::int64_t{row.communicator_size()});
     }},
    {{"communicator", "communicator", Unit::kText, Shown::kAlways,
      "communicator name or id; only with --by-communicator"},
     [](const NcclRow& row) { return TextIfAny(row.communicator()); }},
    {{"message", "message", Unit::kText, Shown::kAlways,
      "size S: at least this, less than twice this"},
     [](const NcclRow& row) { return TextIfAny(MessageSize(row)); }},
    {{"count", "count", Unit::kCount, Shown::kAlways, "operations; a group counts as one"},
     [](const NcclRow& row) { return Cell(row.count()); }},
    {{"bytes", "bytes", Unit::kBytes, Shown::kAlways, "sum of S"},
     [](const NcclRow& row) { return CellIf(row.has_bytes(), row.bytes()); }},
    {{"kernel_ns", "time", Unit::kTime, Shown::kAlways,
      "kernel time, including waiting for other ranks"},
     [](const NcclRow& row) { return Cell(row.kernel_ns()); }},
    {{"exposed_ns", "exposed", Unit::kTime, Shown::kAlways,
      "of that, while no other kernel ran on the GPU"},
     [](const NcclRow& row) { return Cell(row.exposed_ns()); }},
    {{"busbw_gb_per_s", "busbw", Unit::kGbPerS, Shown::kIfItFits,
      "10^9 bytes per second, as nccl-tests defines it"},
     [](const NcclRow& row) { return CellIf(row.has_busbw_gb_per_s(), row.busbw_gb_per_s()); }},
    {{"transfer_busbw_gb_per_s", "transfer", Unit::kGbPerS, Shown::kIfItFits,
      "busbw without waiting; only if all ranks were recorded"},
     [](const NcclRow& row) {
       return CellIf(row.has_transfer_busbw_gb_per_s(), row.transfer_busbw_gb_per_s());
     }},
    {{"algorithm", "algorithm", Unit::kText, Shown::kIfItFits, "from NCCL's profiler interface"},
     [](const NcclRow& row) { return CellIf(row.has_algorithm(), row.algorithm()); }},
    {{"protocol", "protocol", Unit::kText, Shown::kIfItFits, "from NCCL's profiler interface"},
     [](const NcclRow& row) { return CellIf(row.has_protocol(), row.protocol()); }},
    {{"algbw_gb_per_s", "algbw", Unit::kGbPerS, Shown::kIfItFits, "bytes / kernel_ns"},
     [](const NcclRow& row) { return CellIf(row.has_algbw_gb_per_s(), row.algbw_gb_per_s()); }},
    {{"message_low_bytes", "S from", Unit::kBytes, Shown::kOnRequest, "smallest S of this row"},
     [](const NcclRow& row) { return CellIf(row.has_bucket_low_bytes(), row.bucket_low_bytes()); }},
    {{"message_high_bytes", "S below", Unit::kBytes, Shown::kOnRequest, "every S is smaller"},
     [](const NcclRow& row) {
       return CellIf(row.has_bucket_high_bytes(), row.bucket_high_bytes());
     }},
    {{"calls", "calls", Unit::kCount, Shown::kOnRequest, "NCCL calls: more if they were grouped"},
     [](const NcclRow& row) { return Cell(row.calls()); }},
    {{"transfer_ns", "transfer time", Unit::kTime, Shown::kOnRequest,
      "of the rank that waited least; only if all were recorded"},
     [](const NcclRow& row) { return CellIf(row.has_transfer_ns(), row.transfer_ns()); }},
    {{"channels_min", "channels", Unit::kOrdinal, Shown::kOnRequest,
      "fewest per operation, from NCCL's profiler interface"},
     [](const NcclRow& row) {
       return CellIf(row.has_channels_min(), std::int64_t{row.channels_min()});
     }},
    {{"channels_max", "most channels", Unit::kOrdinal, Shown::kOnRequest, "most per operation"},
     [](const NcclRow& row) {
       return CellIf(row.has_channels_max(), std::int64_t{row.channels_max()});
     }},
    {{"busbw_reason", "no busbw", Unit::kText, Shown::kOnRequest, "why busbw is unknown"},
     [](const NcclRow& row) { return TextIfAny(row.busbw_reason()); }},
};

}  // namespace

std::vector<TableColumn> CommColumns() { return ColumnsOf<NcclRow>(kCommColumns); }

Table CommTable(const proto::Report& report) {
  return TableOf<NcclRow>(kCommColumns, report.run().nccl().rows());
}

}  // namespace traceinject
