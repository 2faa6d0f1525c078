// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/summary/summary_message.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "analyzer/ranks/summary/check_summary.h"
#include "schemas/rank_summary.pb.h"

namespace traceinject {
namespace {

constexpr std::int64_t kUnknownLaunch = std::numeric_limits<std::int64_t>::max();

// Differences of any values, and back: what a damaged file holds may leave the range.
std::int64_t Minus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t Plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// value(row) of each row; nothing if all are `usual`.
template <typename Column, typename Value>
void Put(std::size_t rows, Value value, std::int64_t usual, Column* to) {
  bool all_usual = true;
  for (std::size_t row = 0; row < rows; ++row) all_usual &= value(row) == usual;
  if (all_usual) return;
  to->Reserve(static_cast<int>(rows));
  for (std::size_t row = 0; row < rows; ++row) to->Add(value(row));
}

// A column as Put() wrote it.
template <typename Column>
class Reader {
 public:
  Reader(const Column& column, std::int64_t usual) : column_(column), usual_(usual) {}
  bool Fits(int rows) const { return column_.empty() || column_.size() == rows; }
  std::int64_t operator[](int row) const {
    return column_.empty() ? usual_ : static_cast<std::int64_t>(column_[row]);
  }

 private:
  const Column& column_;
  std::int64_t usual_;
};

void WriteSteps(const std::vector<StepFacts>& steps, proto::StepColumns& to) {
  const std::size_t rows = steps.size();
  TimeNs before = 0;
  for (const StepFacts& step : steps) {
    to.add_after(Minus(step.time.start, before));
    to.add_length(Minus(step.time.end, step.time.start));
    before = step.time.end;
  }
  const auto put = [&](auto value, auto* column) {
    Put(
        rows, [&](std::size_t row) { return value(steps[row]); }, 0, column);
  };
  put([](const StepFacts& step) { return !step.regular; }, to.mutable_irregular());
  put([](const StepFacts& step) { return step.compute_ns; }, to.mutable_compute_ns());
  put([](const StepFacts& step) { return step.exposed_communication_ns; },
      to.mutable_exposed_communication_ns());
  put([](const StepFacts& step) { return step.exposed_copy_ns; }, to.mutable_exposed_copy_ns());
  put([](const StepFacts& step) { return step.unrecorded_ns; }, to.mutable_unrecorded_ns());
  put([](const StepFacts& step) { return step.kernels; }, to.mutable_kernels());
  for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
    proto::IdleColumn column;
    put([cause](const StepFacts& step) { return step.idle_ns[cause]; }, column.mutable_idle_ns());
    if (column.idle_ns().empty()) continue;
    column.set_cause(std::string(IdleCauseName(static_cast<IdleCause>(cause))));
    *to.add_idle() = std::move(column);
  }
}

std::optional<std::size_t> FindCause(std::string_view name) {
  for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
    if (IdleCauseName(static_cast<IdleCause>(cause)) == name) return cause;
  }
  return std::nullopt;
}

Result<std::vector<StepFacts>> ReadSteps(const proto::StepColumns& from) {
  const int rows = from.length_size();
  const Reader irregular(from.irregular(), 0);
  const Reader compute(from.compute_ns(), 0), communication(from.exposed_communication_ns(), 0),
      copy(from.exposed_copy_ns(), 0), unrecorded(from.unrecorded_ns(), 0),
      kernels(from.kernels(), 0);
  if (from.after_size() != rows || !irregular.Fits(rows) || !compute.Fits(rows) ||
      !communication.Fits(rows) || !copy.Fits(rows) || !unrecorded.Fits(rows) ||
      !kernels.Fits(rows))
    return Error{"columns of its steps have different lengths"};
  std::vector<StepFacts> steps(static_cast<std::size_t>(rows));
  TimeNs before = 0;
  for (int row = 0; row < rows; ++row) {
    StepFacts& step = steps[static_cast<std::size_t>(row)];
    step.time.start = Plus(before, from.after(row));
    step.time.end = before = Plus(step.time.start, from.length(row));
    step.regular = irregular[row] == 0;
    step.compute_ns = compute[row];
    step.exposed_communication_ns = communication[row];
    step.exposed_copy_ns = copy[row];
    step.unrecorded_ns = unrecorded[row];
    step.kernels = kernels[row];
  }
  for (const proto::IdleColumn& column : from.idle()) {
    const std::optional<std::size_t> cause = FindCause(column.cause());
    if (!cause) return Error{"unknown idle cause"};
    if (column.idle_ns_size() != rows) return Error{"columns of its steps have different lengths"};
    for (int row = 0; row < rows; ++row)
      steps[static_cast<std::size_t>(row)].idle_ns[*cause] = column.idle_ns(row);
  }
  return steps;
}

// Rows of no step count as -1, so that the differences stay small.
std::int64_t StepNumber(std::uint32_t step) { return step == kNone ? -1 : std::int64_t{step}; }

void WriteGroup(const GroupOperations& from, proto::GroupOperations& to) {
  to.set_hash(from.hash);
  to.set_life(static_cast<std::uint32_t>(from.life));
  to.set_size(static_cast<std::uint32_t>(from.size));
  to.set_rank(from.rank);
  to.set_nodes(from.nodes);
  to.set_name(from.name);
  to.set_way(static_cast<std::uint32_t>(from.way));
  to.set_network_gb_per_s(from.network_gb_per_s);
  const std::size_t rows = from.count();
  const auto difference = [](const auto& column, std::size_t row, std::int64_t first) {
    return Minus(column[row], row == 0 ? first : column[row - 1]);
  };
  for (std::size_t row = 0; row < rows; ++row) {
    to.add_start(difference(from.start, row, 0));
    to.add_length(Minus(from.end[row], from.start[row]));
  }
  Put(
      rows,
      [&](std::size_t row) {
        return from.launch[row] == kOpen ? kUnknownLaunch
                                         : Minus(from.start[row], from.launch[row]);
      },
      kUnknownLaunch, to.mutable_launch_before());
  Put(
      rows, [&](std::size_t row) { return from.exposed_ns[row]; }, 0, to.mutable_exposed_ns());
  Put(
      rows, [&](std::size_t row) { return Minus(from.exposed_ns[row], from.blocked_ns[row]); }, 0,
      to.mutable_exposed_before_ns());
  Put(
      rows, [&](std::size_t row) { return from.kind[row]; }, 0, to.mutable_kind());
  Put(
      rows, [&](std::size_t row) { return from.peer[row]; }, -1, to.mutable_peer());
  Put(
      rows, [&](std::size_t row) { return difference(from.sequence, row, -1); }, 0,
      to.mutable_sequence());
  Put(
      rows,
      [&](std::size_t row) {
        const std::int64_t before = row == 0 ? -1 : StepNumber(from.step[row - 1]);
        return static_cast<std::int32_t>(StepNumber(from.step[row]) - before);
      },
      0, to.mutable_step());
}

Result<GroupOperations> ReadGroup(const proto::GroupOperations& from) {
  GroupOperations to;
  to.hash = from.hash();
  to.life = static_cast<int>(from.life());
  to.size = static_cast<int>(from.size());
  to.rank = from.rank();
  to.nodes = from.nodes();
  to.name = from.name();
  if (from.way() > static_cast<std::uint32_t>(NcclTransport::kSockets))
    return Error{"unknown transport of a communicator"};
  to.way = static_cast<NcclTransport>(from.way());
  to.network_gb_per_s = from.network_gb_per_s();
  const int rows = from.start_size();
  const Reader launch(from.launch_before(), kUnknownLaunch), exposed(from.exposed_ns(), 0),
      exposed_before(from.exposed_before_ns(), 0), sequence(from.sequence(), 0);
  const Reader peer(from.peer(), -1), step(from.step(), 0);
  const Reader kind(from.kind(), 0);
  if (from.length_size() != rows || !launch.Fits(rows) || !exposed.Fits(rows) ||
      !exposed_before.Fits(rows) || !kind.Fits(rows) || !peer.Fits(rows) || !sequence.Fits(rows) ||
      !step.Fits(rows))
    return Error{"columns of a communicator have different lengths"};
  if (static_cast<std::size_t>(rows) > kMaxRows) return Error{"invalid number of operations"};
  const auto reserve = [rows](auto&... columns) {
    (columns.reserve(static_cast<std::size_t>(rows)), ...);
  };
  reserve(to.start, to.end, to.launch, to.exposed_ns, to.blocked_ns, to.kind, to.peer, to.sequence,
          to.step);
  TimeNs start = 0;
  std::int64_t number = -1, step_number = -1;
  for (int row = 0; row < rows; ++row) {
    start = Plus(start, from.start(row));
    number = Plus(number, sequence[row]);
    step_number = Plus(step_number, step[row]);
    to.start.push_back(start);
    to.end.push_back(Plus(start, from.length(row)));
    to.launch.push_back(launch[row] == kUnknownLaunch ? kOpen : Minus(start, launch[row]));
    to.exposed_ns.push_back(exposed[row]);
    to.blocked_ns.push_back(Minus(exposed[row], exposed_before[row]));
    to.kind.push_back(static_cast<std::uint32_t>(kind[row]));
    to.peer.push_back(static_cast<std::int32_t>(peer[row]));
    to.sequence.push_back(number);
    // What is beyond the steps is found by CheckSummary().
    to.step.push_back(step_number == -1
                          ? kNone
                          : static_cast<std::uint32_t>(std::clamp<std::int64_t>(
                                step_number < 0 ? kNone - 1 : step_number, 0, kNone - 1)));
  }
  return to;
}

void WriteLines(const std::vector<LineFacts>& from,
                google::protobuf::RepeatedPtrField<proto::LineFacts>* to) {
  for (const LineFacts& line : from) {
    proto::LineFacts& entry = *to->Add();
    entry.set_place(line.place);
    entry.set_ns(line.ns);
  }
}

std::vector<LineFacts> ReadLines(const google::protobuf::RepeatedPtrField<proto::LineFacts>& from) {
  std::vector<LineFacts> lines;
  for (const proto::LineFacts& line : from) lines.push_back({line.place(), line.ns()});
  return lines;
}

// Values of which all are 0 are left out.
template <typename Values, typename Column>
void WriteFixed(const Values& from, Column* to) {
  if (from != Values{}) to->Assign(from.begin(), from.end());
}

// False: there are more, or fewer, than the rank summary holds.
template <typename Column, typename Values>
bool ReadFixed(const Column& from, Values& to) {
  if (from.empty()) return true;
  if (from.size() != static_cast<int>(to.size())) return false;
  std::copy(from.begin(), from.end(), to.begin());
  return true;
}

void WriteKernel(const KernelFacts& from, proto::KernelFacts& to) {
  to.set_name(from.name);
  to.set_count(from.count);
  to.set_total_ns(from.total_ns);
  to.set_median_ns(from.median_ns);
  to.set_blocks(from.blocks);
  for (const ShapeFacts& shape : from.shapes) {
    proto::ShapeFacts& entry = *to.add_shapes();
    WriteFixed(shape.shape.product, entry.mutable_product());
    WriteFixed(shape.shape.launch, entry.mutable_launch());
    entry.set_count(shape.count);
    entry.set_total_ns(shape.total_ns);
    WriteLines(shape.lines, entry.mutable_lines());
  }
}

Result<KernelFacts> ReadKernel(const proto::KernelFacts& from) {
  KernelFacts to{from.name(), from.count(), from.total_ns(), from.median_ns(), from.blocks(), {}};
  for (const proto::ShapeFacts& entry : from.shapes()) {
    ShapeFacts shape;
    if (!ReadFixed(entry.product(), shape.shape.product) ||
        !ReadFixed(entry.launch(), shape.shape.launch))
      return Error{"invalid shape of a kernel"};
    shape.count = entry.count();
    shape.total_ns = entry.total_ns();
    shape.lines = ReadLines(entry.lines());
    to.shapes.push_back(std::move(shape));
  }
  return to;
}

void WriteOperations(const RankSummary& from, proto::RankSummary& to) {
  for (const OperationKind& kind : from.kinds) {
    proto::OperationKind& entry = *to.add_kinds();
    entry.set_function(kind.function);
    entry.set_bytes(kind.bytes);
    entry.set_algorithm(kind.algorithm);
    entry.set_protocol(kind.protocol);
  }
  for (const GroupOperations& group : from.groups) WriteGroup(group, *to.add_groups());
  for (const HungFacts& hung : from.hung) {
    proto::HungFacts& entry = *to.add_hung();
    entry.set_hash(hung.hash);
    entry.set_function(hung.function);
    entry.set_bytes(hung.bytes);
    entry.set_sequence(hung.sequence);
    entry.set_since(hung.since);
  }
}

void WriteWork(const RankSummary& from, proto::WorkOperations& to) {
  for (const std::string& kind : from.work_kinds) to.add_kinds(kind);
  const WorkOperations& work = from.work;
  TimeNs before = 0;
  for (std::size_t row = 0; row < work.count(); ++row) {
    to.add_after(Minus(work.start[row], before));
    to.add_length(Minus(work.end[row], work.start[row]));
    before = work.end[row];
  }
  const auto difference = [](const auto& column, std::size_t row, auto number) {
    return number(column[row]) - (row == 0 ? -1 : number(column[row - 1]));
  };
  Put(
      work.count(), [&](std::size_t row) { return work.kind[row]; }, 0, to.mutable_kind());
  Put(
      work.count(),
      [&](std::size_t row) {
        return static_cast<std::int32_t>(
            difference(work.micro_batch, row, [](std::int64_t number) { return number; }));
      },
      0, to.mutable_micro_batch());
  Put(
      work.count(),
      [&](std::size_t row) {
        return static_cast<std::int32_t>(difference(work.step, row, StepNumber));
      },
      0, to.mutable_step());
}

Status ReadWork(const proto::WorkOperations& from, RankSummary& to) {
  const int rows = from.after_size();
  const Reader kind(from.kind(), 0);
  const Reader micro_batch(from.micro_batch(), 0), step(from.step(), 0);
  if (from.length_size() != rows || !kind.Fits(rows) || !micro_batch.Fits(rows) || !step.Fits(rows))
    return Error{"columns of its work have different lengths"};
  to.work_kinds.assign(from.kinds().begin(), from.kinds().end());
  TimeNs before = 0;
  std::int64_t batch = -1, step_number = -1;
  for (int row = 0; row < rows; ++row) {
    to.work.start.push_back(Plus(before, from.after(row)));
    to.work.end.push_back(before = Plus(to.work.start.back(), from.length(row)));
    batch = Plus(batch, micro_batch[row]);
    step_number = Plus(step_number, step[row]);
    if (batch < -1 || batch >= kMaxRanks || step_number < -1 || step_number >= std::int64_t{kNone})
      return Error{"invalid value: the step or micro-batch of its work"};
    to.work.kind.push_back(static_cast<std::uint32_t>(kind[row]));
    to.work.micro_batch.push_back(static_cast<std::int32_t>(batch));
    to.work.step.push_back(step_number < 0 ? kNone : static_cast<std::uint32_t>(step_number));
  }
  return Done{};
}

}  // namespace

void WriteSummaryMessage(const RankSummary& from, proto::RankSummary& to) {
  to.set_path(from.path);
  to.set_host(from.host);
  to.set_run_id(from.run_id);
  to.set_gpu(from.gpu);
  to.set_rank(from.rank);
  to.set_world_size(static_cast<std::uint32_t>(from.world_size));
  to.set_local_rank(from.local_rank);
  to.set_pid(from.pid);
  to.set_device(static_cast<std::uint32_t>(from.device));
  to.set_closed(from.closed);
  to.set_start(from.start);
  to.set_end(from.end);
  to.set_dropped(from.dropped);
  WriteSteps(from.steps, *to.mutable_steps());
  WriteOperations(from, to);
  for (const KernelFacts& kernel : from.kernels) WriteKernel(kernel, *to.add_kernels());
  WriteLines(from.host_lines, to.mutable_host_lines());
  WriteLines(from.worker_lines, to.mutable_worker_lines());
  to.set_busy_sm_clock_mhz(from.busy_sm_clock_mhz);
  to.set_throttled_share(from.throttled_share);
  to.set_nvlink_gb_per_s(from.nvlink_gb_per_s);
  to.set_host_link(from.host_link);
  to.set_host_link_gb_per_s(from.host_link_gb_per_s);
  to.set_lost_beside_communication(from.lost_beside_communication);
  to.set_host_step_ns(from.host_step_ns);
  to.set_recording_step_ns(from.recording_step_ns);
  for (const std::string& setting : from.nccl_settings) to.add_nccl_settings(setting);
  to.set_clock_shift(from.clock_shift);
  to.set_clock_drift(from.clock_drift);
  to.set_stage(static_cast<std::uint32_t>(from.stage + 1));
  if (from.work.count() > 0) WriteWork(from, *to.mutable_work());
}

Result<RankSummary> ReadSummaryMessage(const proto::RankSummary& from) {
  RankSummary to;
  to.path = from.path();
  to.host = from.host();
  to.run_id = from.run_id();
  to.gpu = from.gpu();
  to.rank = from.rank();
  to.world_size = static_cast<int>(from.world_size());
  to.local_rank = from.local_rank();
  to.pid = from.pid();
  to.device = static_cast<int>(from.device());
  to.closed = from.closed();
  to.start = from.start();
  to.end = from.end();
  to.dropped = from.dropped();
  auto steps = ReadSteps(from.steps());
  if (!steps.ok()) return Error{steps.error()};
  to.steps = std::move(steps).value();
  for (const proto::OperationKind& kind : from.kinds())
    to.kinds.push_back({kind.function(), kind.bytes(), kind.algorithm(), kind.protocol()});
  for (const proto::GroupOperations& group : from.groups()) {
    auto read = ReadGroup(group);
    if (!read.ok()) return Error{read.error()};
    to.groups.push_back(std::move(read).value());
  }
  for (const proto::KernelFacts& kernel : from.kernels()) {
    auto read = ReadKernel(kernel);
    if (!read.ok()) return Error{read.error()};
    to.kernels.push_back(std::move(read).value());
  }
  to.host_lines = ReadLines(from.host_lines());
  to.worker_lines = ReadLines(from.worker_lines());
  for (const proto::HungFacts& hung : from.hung()) {
    to.hung.push_back({hung.hash(), hung.function(), hung.bytes(), hung.sequence(), hung.since()});
  }
  to.busy_sm_clock_mhz = from.busy_sm_clock_mhz();
  to.throttled_share = from.throttled_share();
  to.nvlink_gb_per_s = from.nvlink_gb_per_s();
  to.host_link = from.host_link();
  to.host_link_gb_per_s = from.host_link_gb_per_s();
  to.lost_beside_communication = from.lost_beside_communication();
  to.host_step_ns = from.host_step_ns();
  to.recording_step_ns = from.recording_step_ns();
  to.nccl_settings.assign(from.nccl_settings().begin(), from.nccl_settings().end());
  to.clock_shift = from.clock_shift();
  to.clock_drift = from.clock_drift();
  if (from.stage() > static_cast<std::uint32_t>(kMaxRanks))
    return Error{"invalid value: its stage"};
  to.stage = static_cast<int>(from.stage()) - 1;
  if (const Status work = ReadWork(from.work(), to); !work.ok()) return Error{work.error()};
  return to;
}

}  // namespace traceinject
