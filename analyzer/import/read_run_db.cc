// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/read_run_db.h"

#include <algorithm>
#include <utility>

#include "analyzer/import/join_launches.h"
#include "analyzer/import/run_db_dictionaries.h"
#include "analyzer/import/run_db_events.h"
#include "analyzer/import/run_db_rows.h"
#include "analyzer/import/sort_columns.h"

namespace traceinject {
namespace {

void SortColumns(Rank& rank) {
  for (Device& device : rank.devices) {
    GpuOps& ops = device.ops;
    ApplyOrder(SortedOrder(ops.start, ops.end), ops.start, ops.end, ops.kind, ops.kernel_class,
               ops.stream, ops.detail, ops.correlation, ops.graph_node);
  }
  ApiCalls& api = rank.api;
  ApplyOrder(SortedOrder(api.start, api.end), api.start, api.end, api.thread, api.name,
             api.correlation, api.result);
  Syncs& syncs = rank.syncs;
  ApplyOrder(SortedOrder(syncs.start, syncs.end), syncs.start, syncs.end, syncs.thread, syncs.kind,
             syncs.event, syncs.stream);
  NvtxRanges& nvtx = rank.nvtx;
  ApplyOrder(SortedOrder(nvtx.start, nvtx.end), nvtx.start, nvtx.end, nvtx.thread, nvtx.kind,
             nvtx.domain, nvtx.text, nvtx.category);
  Collectives& calls = rank.collectives;
  ApplyOrder(SortedOrder(calls.start, calls.end), calls.start, calls.end, calls.thread,
             calls.function, calls.communicator, calls.bytes, calls.reduction, calls.peer,
             calls.root);
  DataWaits& waits = rank.data_waits;
  ApplyOrder(SortedOrder(waits.start, waits.end), waits.start, waits.end, waits.thread,
             waits.loader, waits.batch);
  StepMarks& marks = rank.step_marks;
  ApplyOrder(SortedOrder(marks.time, marks.time), marks.time, marks.thread, marks.optimizer);
  HostSpans& spans = rank.host_spans;
  ApplyOrder(SortedOrder(spans.start, spans.end), spans.start, spans.end, spans.thread, spans.kind,
             spans.detail);
}

void SortDevices(Rank& rank) {
  std::sort(rank.devices.begin(), rank.devices.end(),
            [](const Device& a, const Device& b) { return a.ordinal < b.ordinal; });
}

TimeNs LastTimeSeen(const Rank& rank) {
  TimeNs last = rank.start;
  const auto look = [&](const std::vector<TimeNs>& start, const std::vector<TimeNs>& end) {
    for (std::size_t i = 0; i < end.size(); ++i)
      last = std::max(last, end[i] == kOpen ? start[i] : end[i]);
  };
  for (const Device& device : rank.devices) look(device.ops.start, device.ops.end);
  look(rank.api.start, rank.api.end);
  look(rank.syncs.start, rank.syncs.end);
  look(rank.nvtx.start, rank.nvtx.end);
  look(rank.collectives.start, rank.collectives.end);
  look(rank.data_waits.start, rank.data_waits.end);
  look(rank.step_marks.time, rank.step_marks.time);
  look(rank.host_spans.start, rank.host_spans.end);
  return last;
}

// After the last table.
void Finish(RunDbDictionaries& dictionaries, RecordedFile& file) {
  for (std::size_t i = 0; i < file.ranks.size(); ++i) {
    Rank& each = file.ranks[i];
    const bool last = i + 1 == file.ranks.size();
    // Dictionaries without a process column serve all processes of the file.
    each.strings = last ? std::move(dictionaries.strings) : dictionaries.strings;
    each.shapes = last ? std::move(dictionaries.shapes) : dictionaries.shapes;
    each.api_names = last ? std::move(dictionaries.api_names) : dictionaries.api_names;
    each.graph_nodes = last ? std::move(dictionaries.graph_nodes) : dictionaries.graph_nodes;
    SortColumns(each);
    JoinLaunches(each);
    SortDevices(each);
    if (each.end == kOpen) each.end = LastTimeSeen(each);
  }
}

}  // namespace

Result<RecordedFile> ReadRunDb(const Database& database, ReadProgress& progress) {
  RecordedFile file;
  RunDbRows rows(database, progress);
  RunDbDictionaries dictionaries;
  Status status = rows.CountRows();
  if (status.ok()) status = dictionaries.Read(rows, file);
  if (status.ok()) status = ReadRunDbEvents(rows, dictionaries, file);
  if (!status.ok()) return Error{status.error()};
  Finish(dictionaries, file);
  file.notes = rows.Notes();
  return file;
}

}  // namespace traceinject
