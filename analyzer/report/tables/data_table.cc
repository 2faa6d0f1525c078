// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/full_tables.h"
#include "analyzer/report/tables/step_rows.h"

namespace traceinject {
namespace {

constexpr ColumnOf<StepRow> kStepColumns[] = {
    {{"step", "step", Unit::kOrdinal, Shown::kAlways, "step number, as for --steps"},
     [](const StepRow& row) { return Cell(row.number); }},
    {{"gpu", "GPU", Unit::kText, Shown::kIfRowsDiffer, "process and CUDA ordinal"},
     [](const StepRow& row) { return Cell(row.device.label()); }},
    {{"start_ns", "start", Unit::kMoment, Shown::kAlways, "after the first GPU operation"},
     [](const StepRow& row) { return Cell(row.step.start_ns()); }},
    {{"length_ns", "length", Unit::kTime, Shown::kAlways, "on the GPU"},
     [](const StepRow& row) { return Cell(row.step.length_ns()); }},
    {{"wait_share", "share", Unit::kShare, Shown::kIfItFits, "wait_ns, of the step"},
     [](const StepRow& row) {
       return CellIf(row.step.length_ns() > 0, static_cast<double>(row.step.data_wait_ns()) /
                                                   static_cast<double>(row.step.length_ns()));
     }},
    {{"wait_ns", "waited", Unit::kTime, Shown::kAlways,
      "of the step, in next() of data loaders; the GPU may have been busy"},
     [](const StepRow& row) { return Cell(row.step.data_wait_ns()); }},
    {{"waits", "waits", Unit::kCount, Shown::kIfItFits, "waits that begin in the step"},
     [](const StepRow& row) { return Cell(row.step.data_waits()); }},
    {{"idle_data_wait_ns", "GPU idle", Unit::kTime, Shown::kAlways,
      "GPU idle because of these waits"},
     [](const StepRow& row) { return IdleBy(row, "data wait"); }},
    {{"samples", "samples", Unit::kCount, Shown::kIfItFits,
      "samples in the batches received in the step"},
     [](const StepRow& row) { return CellIf(row.step.has_samples(), row.step.samples()); }},
    {{"samples_per_s", "per second", Unit::kNumber, Shown::kIfItFits, "samples / length_ns"},
     [](const StepRow& row) {
       return CellIf(row.step.has_samples() && row.step.length_ns() > 0,
                     1e9 * static_cast<double>(row.step.samples()) /
                         static_cast<double>(row.step.length_ns()));
     }},
};

struct LoaderRow {
  std::string process;
  const proto::DataLoader& loader;
};

Cell YesNo(bool known, bool value) { return known ? Cell(value ? "yes" : "no") : Cell(); }

constexpr ColumnOf<LoaderRow> kLoaderColumns[] = {
    {{"process", "process", Unit::kText, Shown::kIfRowsDiffer, "rank"},
     [](const LoaderRow& row) { return Cell(row.process); }},
    {{"workers", "workers", Unit::kOrdinal, Shown::kAlways,
      "num_workers; unknown, like all settings, if the loader was not identified"},
     [](const LoaderRow& row) {
       return CellIf(row.loader.has_workers(), std::int64_t{row.loader.workers()});
     }},
    {{"batch_size", "batch", Unit::kOrdinal, Shown::kAlways, "batch size as configured"},
     [](const LoaderRow& row) {
       return CellIf(row.loader.has_batch_size(), std::int64_t{row.loader.batch_size()});
     }},
    {{"pin_memory", "pinned", Unit::kText, Shown::kIfItFits, "pin_memory"},
     [](const LoaderRow& row) {
       return YesNo(row.loader.has_pin_memory(), row.loader.pin_memory());
     }},
    {{"waits", "waits", Unit::kCount, Shown::kAlways, "in the window"},
     [](const LoaderRow& row) { return Cell(row.loader.waits()); }},
    {{"wait_ns", "waited", Unit::kTime, Shown::kAlways, "time in waits"},
     [](const LoaderRow& row) { return Cell(row.loader.wait_ns()); }},
    {{"mean_wait_ns", "mean", Unit::kTime, Shown::kIfItFits, "of a wait"},
     [](const LoaderRow& row) {
       return CellIf(row.loader.waits() > 0, static_cast<double>(row.loader.wait_ns()) /
                                                 static_cast<double>(row.loader.waits()));
     }},
    {{"longest_wait_ns", "longest", Unit::kTime, Shown::kIfItFits, "wait"},
     [](const LoaderRow& row) { return Cell(row.loader.longest_wait_ns()); }},
    {{"samples", "samples", Unit::kCount, Shown::kIfItFits, "samples in the batches received"},
     [](const LoaderRow& row) { return CellIf(row.loader.has_samples(), row.loader.samples()); }},
    {{"prefetch_factor", "prefetch", Unit::kOrdinal, Shown::kIfItFits,
      "batches prefetched per worker"},
     [](const LoaderRow& row) {
       return CellIf(row.loader.has_prefetch_factor(), std::int64_t{row.loader.prefetch_factor()});
     }},
    {{"persistent_workers", "persistent", Unit::kText, Shown::kOnRequest,
      "workers persist between epochs"},
     [](const LoaderRow& row) {
       return YesNo(row.loader.has_persistent_workers(), row.loader.persistent_workers());
     }},
};

struct WorkerRow {
  std::string process;
  const proto::DataLoader& loader;
  const proto::DataWorker& worker;
};

constexpr ColumnOf<WorkerRow> kWorkerColumns[] = {
    {{"process", "works for", Unit::kText, Shown::kIfRowsDiffer, "rank"},
     [](const WorkerRow& row) { return Cell(row.process); }},
    {{"pid", "pid", Unit::kOrdinal, Shown::kAlways, "of the worker"},
     [](const WorkerRow& row) { return Cell(row.worker.pid()); }},
    {{"cpu_share", "CPU", Unit::kShare, Shown::kAlways,
      "CPUs kept busy by its threads: 1 is one full CPU"},
     [](const WorkerRow& row) {
       return CellIf(row.worker.has_cpu_share(), row.worker.cpu_share());
     }},
    {{"disk_share", "I/O wait", Unit::kShare, Shown::kAlways,
      "share of time it waited for storage"},
     [](const WorkerRow& row) {
       return CellIf(row.worker.has_disk_share(), row.worker.disk_share());
     }},
    {{"read_bytes", "read", Unit::kBytes, Shown::kAlways,
      "read from storage, not from the page cache"},
     [](const WorkerRow& row) {
       return CellIf(row.worker.has_read_bytes(), row.worker.read_bytes());
     }},
    {{"observed_ns", "observed", Unit::kTime, Shown::kAlways,
      "time covered by these figures, first to last sample"},
     [](const WorkerRow& row) { return Cell(row.worker.observed_ns()); }},
    {{"workers", "workers", Unit::kOrdinal, Shown::kIfItFits, "workers configured for its loader"},
     [](const WorkerRow& row) {
       return CellIf(row.loader.has_workers(), std::int64_t{row.loader.workers()});
     }},
};

}  // namespace

std::vector<TableColumn> DataStepColumns() { return ColumnsOf<StepRow>(kStepColumns); }

Table DataStepTable(const proto::Report& report) {
  return TableOf<StepRow>(kStepColumns, StepRows(report));
}

std::vector<TableColumn> DataLoaderColumns() { return ColumnsOf<LoaderRow>(kLoaderColumns); }

Table DataLoaderTable(const proto::Report& report) {
  std::vector<LoaderRow> rows;
  for (const proto::DataLoader& loader : report.data_loaders())
    rows.push_back({SourceLabel(report, loader.source()), loader});
  return TableOf<LoaderRow>(kLoaderColumns, rows);
}

std::vector<TableColumn> DataWorkerColumns() { return ColumnsOf<WorkerRow>(kWorkerColumns); }

Table DataWorkerTable(const proto::Report& report) {
  std::vector<WorkerRow> rows;
  for (const proto::DataLoader& loader : report.data_loaders()) {
    for (const proto::DataWorker& worker : loader.worker_processes())
      rows.push_back({SourceLabel(report, loader.source()), loader, worker});
  }
  return TableOf<WorkerRow>(kWorkerColumns, rows);
}

}  // namespace traceinject
