// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/run_db/run_db_events.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/common/parallel.h"
#include "analyzer/import/finish/kept_part.h"
#include "analyzer/import/open/open_recording.h"
#include "analyzer/import/run_db/run_db_operations.h"
#include "analyzer/import/run_db/run_db_side_tables.h"
#include "analyzer/import/source/new_events.h"

namespace traceinject {
namespace {

class HostEventReader {
 public:
  HostEventReader(RunDbRows& rows, const RunDbDictionaries& dictionaries, RecordedFile& file)
      : rows_(rows), dictionaries_(dictionaries), file_(file) {}

  // Of CUDA and of its library of GEMMs.
  Status ReadCalls() {
    constexpr std::array<Part, 2> kParts = {&HostEventReader::ReadApi, &HostEventReader::ReadGemms};
    return ReadParts(kParts);
  }

  // All but those.
  Status ReadOthers() {
    constexpr std::array<Part, 10> kParts = {
        &HostEventReader::ReadSyncs,
        &HostEventReader::ReadNvtx,
        &HostEventReader::ReadCollectives,
        &HostEventReader::ReadPlans,
        &HostEventReader::ReadAttentions,
        &HostEventReader::ReadDataWaits,
        &HostEventReader::ReadStepMarks,
        &HostEventReader::ReadHostSpans,
        &HostEventReader::ReadMemoryOperations,
        &HostEventReader::ReadProfiled,
    };
    return ReadParts(kParts);
  }

 private:
  using Part = Status (HostEventReader::*)();

  template <std::size_t kCount>
  Status ReadParts(const std::array<Part, kCount>& parts) {
    for (const Part part : parts) {
      const Status status = (this->*part)();
      if (!status.ok()) return status;
    }
    return Done{};
  }

  Status ReadApi() {
    std::vector<NewCalls> calls;  // by process
    for (Rank& each : file_.ranks) calls.emplace_back(each.api, api_rows_);
    const Status read = rows_.ForEachRow(
        ColumnsOf(EventTable::kApi, "start, dur, thread, name, correlation, result"),
        [&](const SqlRow& row) {
          const Place* thread = ThreadOf(EventTable::kApi, row.int64(2));
          if (thread == nullptr) return;
          const std::uint32_t name = dictionaries_.api_name_ids.Find(row.int64(3));
          if (name == kNone) return rows_.Count(EventTable::kApi, RowProblem::kNoName);
          const TimeNs start = row.int64(0);
          TimeNs end = 0;
          if (!rows_.Times(EventTable::kApi, start, row.int64(1), end)) return;
          calls[thread->rank].Add(start, end, thread->index, name,
                                  static_cast<std::uint64_t>(row.int64(4)), Narrow(row.int64(5)));
        });
    for (NewCalls& of_process : calls) of_process.Finish();
    return read;
  }

  std::size_t RoomFor(EventTable table) const { return rows_.RoomFor(table, file_.ranks.size()); }

  Rank& rank(const Place& place) { return file_.ranks[place.rank]; }

  // Whether a row on `thread` can be kept; null if not.
  const Place* ThreadOf(EventTable table, std::int64_t id) {
    const Place* thread = dictionaries_.threads.Find(id);
    if (thread == nullptr) rows_.Count(table, RowProblem::kNoThread);
    return thread;
  }

  Status ReadSyncs() {
    return rows_.ForEachRow(
        ColumnsOf(EventTable::kSync, "start, dur, thread, kind, event, stream"),
        [&](const SqlRow& row) {
          const Place* thread = ThreadOf(EventTable::kSync, row.int64(2));
          if (thread == nullptr) return;
          if (row.int64(3) < 1 || row.int64(3) > 4)
            return rows_.Count(EventTable::kSync, RowProblem::kUnknownKind);
          TimeNs end = 0;
          if (!rows_.Times(EventTable::kSync, row.int64(0), row.int64(1), end)) return;
          const Place* stream = row.is_null(5) ? nullptr : dictionaries_.streams.Find(row.int64(5));
          const bool own_stream = stream != nullptr && stream->rank == thread->rank;
          const std::int64_t event = row.int64(4);
          Syncs& syncs = rank(*thread).syncs;
          MakeRoom(sync_rows_, syncs.start, syncs.end, syncs.thread, syncs.kind, syncs.event,
                   syncs.stream);
          syncs.start.push_back(row.int64(0));
          syncs.end.push_back(end);
          syncs.thread.push_back(thread->index);
          syncs.kind.push_back(static_cast<SyncKind>(row.int64(3)));
          syncs.event.push_back(row.is_null(4) || event < 0 || event >= kNone
                                    ? kNone
                                    : static_cast<std::uint32_t>(event));
          syncs.stream.push_back(own_stream ? stream->index : kNone);
        });
  }

  Status ReadNvtx() {
    return rows_.ForEachRow(
        ColumnsOf(EventTable::kNvtx, "start, dur, thread, kind, domain, text, category"),
        [&](const SqlRow& row) {
          const Place* thread = ThreadOf(EventTable::kNvtx, row.int64(2));
          if (thread == nullptr) return;
          const Place* domain = dictionaries_.domains.Find(row.int64(4));
          if (domain == nullptr || domain->rank != thread->rank)
            return rows_.Count(EventTable::kNvtx, RowProblem::kNoName);
          if (row.int64(3) < 1 || row.int64(3) > 3)
            return rows_.Count(EventTable::kNvtx, RowProblem::kUnknownKind);
          const auto kind = static_cast<NvtxKind>(row.int64(3));
          TimeNs end = 0;
          const TimeNs start = row.int64(0);
          if (!rows_.TimesOrOpen(EventTable::kNvtx, row, 1, start, end)) return;
          if (kind == NvtxKind::kMark) end = start;
          NvtxRanges& nvtx = rank(*thread).nvtx;
          MakeRoom(nvtx_rows_, nvtx.start, nvtx.end, nvtx.thread, nvtx.kind, nvtx.text);
          nvtx.start.push_back(start);
          nvtx.end.push_back(end);
          nvtx.thread.push_back(thread->index);
          nvtx.kind.push_back(kind);
          nvtx.domain.push_back(domain->index);
          nvtx.text.push_back(dictionaries_.StringOf(row, 5));
          nvtx.category.push_back(row.is_null(6) ? kNone
                                                 : static_cast<std::uint32_t>(row.int64(6)));
        });
  }

  // Of files that analyze import made. The table came in the course of version 6.
  Status ReadProfiled() {
    constexpr std::string_view kTable = kProfilerRangeTable;
    auto has = rows_.HasTable(kTable);
    if (!has.ok()) return Error{has.error()};
    if (!has.value()) return Done{};
    return rows_.ForEachRow(
        kTable, "start, dur, thread, kind, name, input_shapes, sequence, forward_thread",
        [&](const SqlRow& row) {
          const Place* thread = dictionaries_.threads.Find(row.int64(2));
          if (thread == nullptr) return rows_.Count(kTable, RowProblem::kNoThread);
          const std::uint32_t name = dictionaries_.StringOf(row, 4);
          if (name == kNone) return rows_.Count(kTable, RowProblem::kNoName);
          if (row.int64(3) < 1 || row.int64(3) > 2)
            return rows_.Count(kTable, RowProblem::kUnknownKind);
          TimeNs end = 0;
          if (!rows_.Times(kTable, row.int64(0), row.int64(1), end)) return;
          ProfiledRanges& ranges = rank(*thread).profiled;
          ranges.start.push_back(row.int64(0));
          ranges.end.push_back(end);
          ranges.thread.push_back(thread->index);
          ranges.kind.push_back(static_cast<ProfiledKind>(row.int64(3)));
          ranges.name.push_back(name);
          ranges.input_shapes.push_back(dictionaries_.StringOf(row, 5));
          ranges.sequence.push_back(row.optional_int64(6).value_or(-1));
          ranges.forward_thread.push_back(Narrow(row.int64(7)));
        });
  }

  Status ReadCollectives() {
    // Ids came with version 3, as plans, which refer to them.
    return rows_.ForEachRow(
        has_plans() ? ColumnsOf(EventTable::kCollective,
                                "start, dur, thread, function, communicator, bytes, reduction, "
                                "peer, root, id")
                    : ColumnsOf(EventTable::kCollective,
                                "start, dur, thread, function, communicator, bytes, reduction, "
                                "peer, root"),
        [&](const SqlRow& row) {
          const Place* thread = ThreadOf(EventTable::kCollective, row.int64(2));
          if (thread == nullptr) return;
          const std::uint32_t function = dictionaries_.StringOf(row, 3);
          if (function == kNone) return rows_.Count(EventTable::kCollective, RowProblem::kNoName);
          const Place* communicator =
              row.is_null(4) ? nullptr : dictionaries_.communicators.Find(row.int64(4));
          const bool own = communicator != nullptr && communicator->rank == thread->rank;
          if (!row.is_null(4) && !own)
            rows_.Count(EventTable::kCollective, RowProblem::kNoCommunicator);
          TimeNs end = 0;
          if (!rows_.TimesOrOpen(EventTable::kCollective, row, 1, row.int64(0), end)) return;
          Collectives& collectives = rank(*thread).collectives;
          if (has_plans()) {
            collectives_.Add(row.int64(9),
                             {thread->rank, static_cast<std::uint32_t>(collectives.size())});
          }
          collectives.start.push_back(row.int64(0));
          collectives.end.push_back(end);
          collectives.thread.push_back(thread->index);
          collectives.function.push_back(function);
          collectives.communicator.push_back(own ? communicator->index : kNone);
          collectives.bytes.push_back(row.optional_int64(5).value_or(-1));
          collectives.reduction.push_back(row.optional_int(6).value_or(-1));
          collectives.peer.push_back(row.optional_int(7).value_or(-1));
          collectives.root.push_back(row.optional_int(8).value_or(-1));
        });
  }

  bool Has(EventTable table) const { return dictionaries_.schema_version >= InfoOf(table).since; }
  bool has_plans() const { return Has(EventTable::kCollectivePlan); }

  Status ReadPlans() {
    if (!Has(EventTable::kCollectivePlan)) return Done{};
    return rows_.ForEachRow(
        ColumnsOf(
            EventTable::kCollectivePlan,
            "time, collective, thread, sequence, count, datatype, algorithm, protocol, channels, "
            "warps, launch_start, launch_dur"),
        [&](const SqlRow& row) {
          const Place* collective = collectives_.Find(row.int64(1));
          if (collective == nullptr) {
            // Of the first or last rows only, some are expected to be without theirs.
            if (rows_.read_until() == kOpen && !rows_.read_from() && !only_last_rows())
              rows_.Count(EventTable::kCollectivePlan, RowProblem::kNoCollective);
            return;
          }
          const Place* thread = ThreadOf(EventTable::kCollectivePlan, row.int64(2));
          if (thread == nullptr) return;
          if (thread->rank != collective->rank)
            return rows_.Count(EventTable::kCollectivePlan, RowProblem::kNoThread);
          TimeNs time = 0, launch_start = kOpen, launch_end = kOpen;
          if (!rows_.Times(EventTable::kCollectivePlan, row.int64(0), 0, time)) return;
          if (!row.is_null(10)) {
            launch_start = row.int64(10);
            if (!rows_.TimesOrOpen(EventTable::kCollectivePlan, row, 11, launch_start, launch_end))
              return;
          }
          CollectivePlans& plans = rank(*thread).plans;
          plans.collective.push_back(collective->index);
          plans.time.push_back(time);
          plans.thread.push_back(thread->index);
          plans.sequence.push_back(row.optional_int64(3).value_or(-1));
          plans.count.push_back(row.int64(4));
          plans.datatype.push_back(dictionaries_.StringOf(row, 5));
          plans.algorithm.push_back(dictionaries_.StringOf(row, 6));
          plans.protocol.push_back(dictionaries_.StringOf(row, 7));
          plans.channels.push_back(row.optional_int(8).value_or(-1));
          plans.warps.push_back(row.optional_int(9).value_or(-1));
          plans.launch_start.push_back(launch_start);
          plans.launch_end.push_back(launch_end);
        });
  }

  // Of a flight recorder, once its gaps are read.
  bool only_last_rows() const {
    const auto& gaps = file_.ranks.front().gaps;
    return std::any_of(gaps.begin(), gaps.end(),
                       [](const CaptureGap& gap) { return gap.reason == kKeepLast; });
  }

  Status ReadAttentions() {
    if (!Has(EventTable::kAttention)) return Done{};
    // Before, a column told whether one kernel did it, and was NULL for a call without gradients.
    const bool has_gradient = dictionaries_.schema_version >= 4;
    return rows_.ForEachRow(
        has_gradient
            ? ColumnsOf(EventTable::kAttention, "start, dur, thread, shape, direction, gradient")
            : EventColumns{EventTable::kAttention,
                           "start, dur, thread, shape, direction, fused IS NOT NULL"},
        [&](const SqlRow& row) {
          const Place* thread = ThreadOf(EventTable::kAttention, row.int64(2));
          if (thread == nullptr) return;
          const std::uint32_t shape = dictionaries_.attention_shape_ids.Find(row.int64(3));
          if (shape == kNone) return rows_.Count(EventTable::kAttention, RowProblem::kNoShape);
          if (row.int64(4) < 1 || row.int64(4) > 2)
            return rows_.Count(EventTable::kAttention, RowProblem::kUnknownKind);
          TimeNs end = 0;
          if (!rows_.TimesOrOpen(EventTable::kAttention, row, 1, row.int64(0), end)) return;
          Attentions& attentions = rank(*thread).attentions;
          attentions.start.push_back(row.int64(0));
          attentions.end.push_back(end);
          attentions.thread.push_back(thread->index);
          attentions.shape.push_back(shape);
          attentions.backward.push_back(row.int64(4) == 2 ? 1 : 0);
          attentions.gradient.push_back(row.is_null(5) ? std::int8_t{-1}
                                                       : std::int8_t{row.int64(5) != 0});
        });
  }

  Status ReadDataWaits() {
    if (!Has(EventTable::kDataWait)) return Done{};
    const bool has_samples = dictionaries_.schema_version >= 3;
    return rows_.ForEachRow(
        has_samples
            ? ColumnsOf(EventTable::kDataWait, "start, dur, thread, loader, batch, samples")
            : EventColumns{EventTable::kDataWait, "start, dur, thread, loader, batch, NULL"},
        [&](const SqlRow& row) {
          const Place* thread = ThreadOf(EventTable::kDataWait, row.int64(2));
          if (thread == nullptr) return;
          TimeNs end = 0;
          if (!rows_.Times(EventTable::kDataWait, row.int64(0), row.int64(1), end)) return;
          const Place* loader = row.is_null(3) ? nullptr : dictionaries_.loaders.Find(row.int64(3));
          const bool own = loader != nullptr && loader->rank == thread->rank;
          if (!row.is_null(3) && !own) rows_.Count(EventTable::kDataWait, RowProblem::kNoLoader);
          DataWaits& waits = rank(*thread).data_waits;
          waits.start.push_back(row.int64(0));
          waits.end.push_back(end);
          waits.thread.push_back(thread->index);
          waits.loader.push_back(own ? loader->index : kNone);
          waits.batch.push_back(row.optional_int64(4).value_or(-1));
          waits.samples.push_back(row.optional_int64(5).value_or(-1));
        });
  }

  Status ReadStepMarks() {
    if (!Has(EventTable::kStepMark)) return Done{};
    return rows_.ForEachRow(
        ColumnsOf(EventTable::kStepMark, "time, thread, optimizer"), [&](const SqlRow& row) {
          const Place* thread = ThreadOf(EventTable::kStepMark, row.int64(1));
          if (thread == nullptr) return;
          TimeNs end = 0;
          if (!rows_.Times(EventTable::kStepMark, row.int64(0), 0, end)) return;
          const std::int64_t optimizer = row.int64(2);
          StepMarks& marks = rank(*thread).step_marks;
          marks.time.push_back(end);
          marks.thread.push_back(thread->index);
          marks.optimizer.push_back(
              optimizer < 0 || optimizer >= kNone ? kNone : static_cast<std::uint32_t>(optimizer));
        });
  }

  Status ReadHostSpans() {
    if (!Has(EventTable::kHostSpan)) return Done{};
    return rows_.ForEachRow(
        ColumnsOf(EventTable::kHostSpan, "start, dur, thread, kind, detail"),
        [&](const SqlRow& row) {
          const Place* thread = ThreadOf(EventTable::kHostSpan, row.int64(2));
          if (thread == nullptr) return;
          if (row.int64(3) < 1 || row.int64(3) > 3)
            return rows_.Count(EventTable::kHostSpan, RowProblem::kUnknownKind);
          TimeNs end = 0;
          if (!rows_.Times(EventTable::kHostSpan, row.int64(0), row.int64(1), end)) return;
          HostSpans& spans = rank(*thread).host_spans;
          spans.start.push_back(row.int64(0));
          spans.end.push_back(end);
          spans.thread.push_back(thread->index);
          spans.kind.push_back(static_cast<HostSpanKind>(row.int64(3)));
          spans.detail.push_back(row.optional_int(4).value_or(-1));
        });
  }

  Status ReadGemms() {
    if (!Has(EventTable::kGemm)) return Done{};
    return rows_.ForEachRow(
        ColumnsOf(EventTable::kGemm, "start, dur, thread, shape"), [&](const SqlRow& row) {
          const Place* thread = ThreadOf(EventTable::kGemm, row.int64(2));
          if (thread == nullptr) return;
          const std::uint32_t shape = dictionaries_.gemm_shape_ids.Find(row.int64(3));
          if (shape == kNone) return rows_.Count(EventTable::kGemm, RowProblem::kNoShape);
          TimeNs end = 0;
          if (!rows_.Times(EventTable::kGemm, row.int64(0), row.int64(1), end)) return;
          Gemms& gemms = rank(*thread).gemms;
          // Each makes a CUDA call at least.
          MakeRoom(api_rows_, gemms.start, gemms.end, gemms.thread, gemms.shape);
          gemms.start.push_back(row.int64(0));
          gemms.end.push_back(end);
          gemms.thread.push_back(thread->index);
          gemms.shape.push_back(shape);
        });
  }

  Status ReadMemoryOperations() {
    if (!Has(EventTable::kMemoryOperation)) return Done{};
    return rows_.ForEachRow(
        ColumnsOf(EventTable::kMemoryOperation,
                  "time, proc, device, kind, memory_kind, bytes, address, correlation"),
        [&](const SqlRow& row) {
          const std::uint32_t process = dictionaries_.processes.Find(row.int64(1));
          if (process == kNone)
            return rows_.Count(EventTable::kMemoryOperation, RowProblem::kNoProcess);
          if (!IsPlausible(row.int64(0)))
            return rows_.Count(EventTable::kMemoryOperation, RowProblem::kTime);
          if (row.int64(3) != 1 && row.int64(3) != 2)
            return rows_.Count(EventTable::kMemoryOperation, RowProblem::kUnknownKind);
          MemoryOperations& memory = file_.ranks[process].memory;
          memory.time.push_back(row.int64(0));
          memory.device.push_back(Narrow(row.int64(2)));
          memory.release.push_back(row.int64(3) == 2);
          memory.memory_kind.push_back(static_cast<std::uint8_t>(row.int64(4)));
          memory.bytes.push_back(row.int64(5));
          memory.address.push_back(static_cast<std::uint64_t>(row.int64(6)));
          memory.correlation.push_back(static_cast<std::uint64_t>(row.int64(7)));
        });
  }

  RunDbRows& rows_;
  const RunDbDictionaries& dictionaries_;
  RecordedFile& file_;
  PlaceMap collectives_;  // by id
  // Room to be made for each process.
  std::size_t api_rows_ = RoomFor(EventTable::kApi), nvtx_rows_ = RoomFor(EventTable::kNvtx),
              sync_rows_ = RoomFor(EventTable::kSync);
};

// For one of two that read at a time. More would wait for what is done with the rows. As many as
// can be opened.
std::vector<Database> OpenHelpers(unsigned threads, const Database& database) {
  constexpr unsigned kMost = 3;
  const unsigned helpers = std::min(kMost, std::max(threads / 2, 1U) - 1);
  std::vector<Database> beside;
  while (beside.size() < helpers) {
    std::optional<Database> one = OpenBeside(database);
    if (!one) break;
    beside.push_back(*std::move(one));
  }
  return beside;
}

}  // namespace

Status ReadRunDbEvents(RunDbRows& rows, const RunDbDictionaries& dictionaries, RecordedFile& file) {
  // About half of the rows.
  const auto read_others = [&] {
    Status read = ReadRunDbSideTables(rows, dictionaries, file);
    if (read.ok()) read = ReadRunDbOperations(rows, dictionaries, file);
    return read.ok() ? HostEventReader(rows, dictionaries, file).ReadOthers() : read;
  };
  const std::optional<Database> second = OpenBeside(rows.database());
  if (!second) {
    const Status others = read_others();
    return others.ok() ? HostEventReader(rows, dictionaries, file).ReadCalls() : others;
  }
  RunDbRows beside(rows, *second);
  rows.ReadAheadOver(OpenHelpers(rows.threads(), rows.database()));
  beside.ReadAheadOver(OpenHelpers(rows.threads(), *second));
  Status others = Done{}, calls = Done{};
  RunInParallel({[&] { others = read_others(); },
                 [&] { calls = HostEventReader(beside, dictionaries, file).ReadCalls(); }});
  rows.Add(beside);
  rows.ReadAheadOver({});
  return others.ok() ? calls : others;
}

}  // namespace traceinject
