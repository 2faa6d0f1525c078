// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/tables/full_tables.h"

namespace traceinject {
namespace {

using Calls = proto::AllocationCalls;

constexpr ColumnOf<Calls> kCallColumns[] = {
    {{"api", "call", Unit::kText, Shown::kAlways, "CUDA function"},
     [](const Calls& calls) { return Cell(calls.api()); }},
    {{"count", "count", Unit::kCount, Shown::kAlways, "calls that begin in the window"},
     [](const Calls& calls) { return Cell(calls.count()); }},
    {{"total_ns", "total", Unit::kTime, Shown::kAlways, "time in them"},
     [](const Calls& calls) { return Cell(calls.total_ns()); }},
    {{"mean_ns", "mean", Unit::kTime, Shown::kAlways, "mean per call"},
     [](const Calls& calls) {
       return Cell(static_cast<double>(calls.total_ns()) / static_cast<double>(calls.count()));
     }},
    {{"max_ns", "max", Unit::kTime, Shown::kAlways, "the longest"},
     [](const Calls& calls) { return Cell(calls.max_ns()); }},
    {{"bytes", "bytes", Unit::kBytes, Shown::kAlways,
      "allocated or freed; known only if TRACEINJECT_KINDS included memory"},
     [](const Calls& calls) { return CellIf(calls.has_bytes(), calls.bytes()); }},
    {{"failed", "failed", Unit::kCount, Shown::kAlways, "calls that returned an error"},
     [](const Calls& calls) { return Cell(calls.failed()); }},
};

struct SampleRow {
  const proto::DeviceReport& device;
  const proto::MemorySample& sample;
};

constexpr ColumnOf<SampleRow> kSampleColumns[] = {
    {{"time_ns", "time", Unit::kMoment, Shown::kAlways, "after the first GPU operation"},
     [](const SampleRow& row) { return Cell(row.sample.time_ns()); }},
    {{"gpu", "GPU", Unit::kText, Shown::kIfRowsDiffer, "process and CUDA ordinal"},
     [](const SampleRow& row) { return Cell(row.device.label()); }},
    {{"allocated_bytes", "in tensors", Unit::kBytes, Shown::kIfItFits, "PyTorch: in tensors"},
     [](const SampleRow& row) {
       return CellIf(row.sample.has_allocated_bytes(), row.sample.allocated_bytes());
     }},
    {{"reserved_bytes", "reserved", Unit::kBytes, Shown::kIfItFits,
      "PyTorch: reserved from the driver"},
     [](const SampleRow& row) {
       return CellIf(row.sample.has_reserved_bytes(), row.sample.reserved_bytes());
     }},
    {{"used_bytes", "used", Unit::kBytes, Shown::kIfItFits,
      "on the GPU, by all processes and the driver"},
     [](const SampleRow& row) {
       return CellIf(row.sample.has_used_bytes(), row.sample.used_bytes());
     }},
    {{"peak_allocated_bytes", "peak in tensors", Unit::kBytes, Shown::kIfItFits,
      "PyTorch: peak since the program started or reset it"},
     [](const SampleRow& row) {
       return CellIf(row.sample.has_peak_allocated_bytes(), row.sample.peak_allocated_bytes());
     }},
    {{"peak_reserved_bytes", "peak reserved", Unit::kBytes, Shown::kIfItFits,
      "PyTorch: peak since the program started or reset it"},
     [](const SampleRow& row) {
       return CellIf(row.sample.has_peak_reserved_bytes(), row.sample.peak_reserved_bytes());
     }},
    {{"retries", "retries", Unit::kCount, Shown::kIfItFits,
      "PyTorch: times cached blocks had to be freed first"},
     [](const SampleRow& row) { return CellIf(row.sample.has_retries(), row.sample.retries()); }},
    {{"ooms", "out of memory", Unit::kCount, Shown::kIfItFits, "PyTorch: times that did not help"},
     [](const SampleRow& row) { return CellIf(row.sample.has_ooms(), row.sample.ooms()); }},
    {{"active_bytes", "active", Unit::kBytes, Shown::kOnRequest,
      "PyTorch: in tensors or in blocks still used by a stream"},
     [](const SampleRow& row) {
       return CellIf(row.sample.has_active_bytes(), row.sample.active_bytes());
     }},
};

}  // namespace

std::vector<TableColumn> AllocationColumns() { return ColumnsOf<Calls>(kCallColumns); }

Table AllocationTable(const proto::Report& report) {
  return TableOf<Calls>(kCallColumns, report.run().allocation_calls());
}

std::vector<TableColumn> MemorySampleColumns() { return ColumnsOf<SampleRow>(kSampleColumns); }

Table MemorySampleTable(const proto::Report& report) {
  std::vector<SampleRow> rows;
  for (const proto::DeviceReport& device : report.devices()) {
    for (const proto::MemorySample& sample : device.memory_samples())
      rows.push_back({device, sample});
  }
  return TableOf<SampleRow>(kSampleColumns, rows);
}

}  // namespace traceinject
