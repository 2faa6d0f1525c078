// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/metrics/idle/stalls.h"
#include "analyzer/metrics/report/report_writer.h"
#include "analyzer/metrics/report/set_if.h"

namespace traceinject {
namespace {

constexpr int kMaxRanges = 20;  // a program may leave any number open

std::string CommunicatorName(const Communicator& communicator) {
  const std::string hash = fmt::format("0x{:x}", communicator.hash);
  return communicator.name.empty() ? hash : fmt::format("{} ({})", hash, communicator.name);
}

const char* StateName(OperationState state) {
  switch (state) {
    case OperationState::kCompleted:
      return "completed";
    case OperationState::kOutstanding:
      return "outstanding";
    case OperationState::kUnknown:
      break;
  }
  return "unknown";
}

// As SyncKind numbers them.
const char* WaitedFor(std::int32_t kind) {
  switch (kind) {
    case 3:
      return "an event";
    case 4:
      return "a stream";
    case 5:
      return "the device";
    default:
      return "the GPU";
  }
}

class StallWriter {
 public:
  StallWriter(const Run& run, TimeNs origin) : run_(run), origin_(origin) {}

  void Add(std::size_t index, const Stall& stall, Report& report) {
    const Rank& rank = run_.ranks[index];
    proto::Stall& to = *report.add_stalls();
    to.set_source(static_cast<int>(index));
    to.set_start_ns(stall.time.start - origin_);
    const bool ended = stall.time.end != kOpen;
    const TimeNs end = ended ? stall.time.end : std::max(LastKnownTime(rank), stall.time.start);
    if (ended) to.set_end_ns(end - origin_);
    to.set_length_ns(end - stall.time.start);
    if (stall.last_op != kNone) {
      const Device& device = rank.devices[stall.device];
      to.set_last_operation(OperationName(rank, device.ops, stall.last_op));
      to.set_last_device(fmt::format("GPU {}", device.ordinal));
      to.set_last_end_ns(device.ops.end[stall.last_op] - origin_);
    }
    if (ended) return;
    if (stall.unanswered) to.set_unanswered(true);
    to.set_outstanding_launches(static_cast<std::int64_t>(stall.launches.size()));
    if (!stall.launches.empty()) {
      const std::uint32_t first = stall.launches.front();
      Call(rank, rank.api_names[rank.api.name[first]].name, rank.api.start[first],
           rank.api.thread[first], *to.mutable_first_launch());
    }
    if (stall.collective != kNone) {
      Operation(index, stall.collective, *to.mutable_operation());
      const std::uint32_t communicator = rank.collectives.communicator[stall.collective];
      if (communicator != kNone)
        hung_.insert({rank.communicators[communicator].hash,
                      std::string(rank.string(rank.collectives.function[stall.collective])),
                      SequenceOf(rank, stall.collective)});
    }
    for (const std::uint32_t row : stall.waits) {
      Call(rank, WaitedFor(rank.host_spans.detail[row]), rank.host_spans.start[row],
           rank.host_spans.thread[row], *to.add_waits());
    }
    for (const std::uint32_t row : stall.ranges) {
      if (to.ranges_size() == kMaxRanges) break;
      Call(rank, std::string(rank.string(rank.nvtx.text[row])), rank.nvtx.start[row],
           rank.nvtx.thread[row], *to.add_ranges());
    }
  }

  // After all stalls.
  void AddHungOperations(Report& report) const {
    for (const auto& [hash, function, sequence] : hung_) {
      proto::HungOperation& to = *report.add_hung_operations();
      to.set_function(function);
      if (sequence >= 0) to.set_sequence(sequence);
      for (std::size_t index = 0; index < run_.ranks.size(); ++index) {
        const Rank& rank = run_.ranks[index];
        const std::uint32_t row = FindSameOrLast(rank, hash, function, sequence);
        if (row == kNone) continue;
        const Communicator& communicator = rank.communicators[rank.collectives.communicator[row]];
        to.set_communicator(CommunicatorName(communicator));
        SetIf(communicator.size, [&](int v) { to.set_size(v); });
        Operation(index, row, *to.add_processes());
        if (sequence >= 0 && SequenceOf(rank, row) >= 0 && SequenceOf(rank, row) < sequence)
          to.add_behind(static_cast<int>(index));
      }
    }
  }

 private:
  void Call(const Rank& rank, const std::string& name, TimeNs start, std::uint32_t thread,
            proto::StalledCall& to) const {
    to.set_name(name);
    to.set_start_ns(start - origin_);
    to.set_thread(rank.threads[thread].tid);
    to.set_thread_name(rank.threads[thread].name);
  }

  void Operation(std::size_t index, std::uint32_t collective, proto::StalledOperation& to) const {
    const Rank& rank = run_.ranks[index];
    const Collectives& collectives = rank.collectives;
    to.set_source(static_cast<int>(index));
    to.set_function(std::string(rank.string(collectives.function[collective])));
    to.set_bytes(collectives.bytes[collective]);
    to.set_start_ns(collectives.start[collective] - origin_);
    to.set_state(StateName(StateOf(rank, collective)));
    if (const std::int64_t sequence = SequenceOf(rank, collective); sequence >= 0)
      to.set_sequence(sequence);
    if (collectives.communicator[collective] == kNone) return;
    const Communicator& communicator = rank.communicators[collectives.communicator[collective]];
    to.set_communicator(CommunicatorName(communicator));
    SetIf(communicator.rank, [&](int v) { to.set_communicator_rank(v); });
    SetIf(communicator.size, [&](int v) { to.set_communicator_size(v); });
  }

  const Run& run_;
  TimeNs origin_;
  // By hash of the communicator, function and sequence.
  std::set<std::tuple<std::uint64_t, std::string, std::int64_t>> hung_;
};

}  // namespace

void ReportWriter::Stalls(Report& to) const {
  StallWriter writer(run_, origin_);
  for (std::size_t index = 0; index < run_.ranks.size(); ++index) {
    for (const Stall& stall : FindStalls(run_.ranks[index])) writer.Add(index, stall, to);
  }
  writer.AddHungOperations(to);
}

}  // namespace traceinject
