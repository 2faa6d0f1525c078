// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/kineto/kineto_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "analyzer/common/units.h"
#include "analyzer/import/finish/find_loaders_and_steps.h"
#include "analyzer/import/finish/finish_rank.h"
#include "analyzer/import/finish/join_launches.h"
#include "analyzer/import/finish/sort_rank.h"
#include "analyzer/import/kineto/kineto_transfer.h"
#include "analyzer/import/source/column_ranges.h"
#include "analyzer/import/source/run_db_rows.h"
#include "analyzer/import/source/trace_source.h"
#include "analyzer/model/api_class.h"
#include "analyzer/model/demangle.h"
#include "analyzer/model/kernel_class.h"

namespace traceinject {
namespace {

std::string_view Explain(KinetoProblem problem) {
  switch (problem) {
    case KinetoProblem::kBroken:
      return "left out: not valid JSON or UTF-8, or a field of the wrong type";
    case KinetoProblem::kTime:
      return "left out: no time, or an impossible time";
    case KinetoProblem::kNegative:
      return "repaired: a negative or missing duration was set to 0";
    case KinetoProblem::kNoStream:
      return "left out: a GPU operation without device and stream";
    case KinetoProblem::kNoThread:
      return "left out: a host event without a thread";
    case KinetoProblem::kCollective:
      return "kept as plain kernels: function or message size of the collective is unknown";
    case KinetoProblem::kMember:
      return "left out: facts about devices, the job or versions that could not be understood";
    case KinetoProblem::kCount:
      break;
  }
  return "";
}

}  // namespace

void KinetoRankBuilder::Add(const KinetoEvent& event) {
  switch (event.kind) {
    case KinetoKind::kKernel:
    case KinetoKind::kMemcpy:
    case KinetoKind::kMemset:
      return AddOperation(event);
    case KinetoKind::kApi:
      return AddApi(event);
    case KinetoKind::kAnnotation:
      return AddAnnotation(event);
    case KinetoKind::kOperator:
    case KinetoKind::kPythonFunction:
      return AddProfiled(event);
    case KinetoKind::kSpan:
      return AddSpan(event);
    case KinetoKind::kThreadName:
      return AddThreadName(event);
    case KinetoKind::kProcessName:
      if (event.pid) process_names_[*event.pid] = event.label;
      return;
    case KinetoKind::kBroken:
      return Count(KinetoProblem::kBroken);
    case KinetoKind::kSkipped:
      return;
  }
}

std::optional<std::pair<TimeNs, TimeNs>> KinetoRankBuilder::Times(const KinetoEvent& event) {
  // Half the range: the difference of two times must not overflow.
  constexpr TimeNs kFarthest = std::numeric_limits<TimeNs>::max() / 2;
  if (!event.start || *event.start > kFarthest || *event.start < -kFarthest) {
    Count(KinetoProblem::kTime);
    return std::nullopt;
  }
  const TimeNs anchor = anchor_.value_or(*event.start);
  const TimeNs start = *event.start - anchor;
  TimeNs dur = event.dur.value_or(0);
  if (!IsPlausible(start) || !IsPlausible(dur)) {
    Count(KinetoProblem::kTime);
    return std::nullopt;
  }
  if (!event.dur || dur < 0) {
    Count(KinetoProblem::kNegative);
    dur = 0;
  }
  anchor_ = anchor;
  return std::pair(start, start + dur);
}

std::uint32_t KinetoRankBuilder::DeviceIndex(int ordinal) {
  const auto [entry, is_new] =
      devices_.try_emplace(ordinal, static_cast<std::uint32_t>(rank_.devices.size()));
  if (!is_new) return entry->second;
  // The list of devices may have come before.
  const auto known = std::find_if(rank_.devices.begin(), rank_.devices.end(),
                                  [&](const Device& each) { return each.ordinal == ordinal; });
  entry->second = static_cast<std::uint32_t>(known - rank_.devices.begin());
  if (known == rank_.devices.end()) rank_.devices.emplace_back().ordinal = ordinal;
  return entry->second;
}

std::uint32_t KinetoRankBuilder::StreamOf(const KinetoEvent& event) {
  // On the rows of the GPU, pid is the device and tid the stream.
  const std::int64_t device = event.device ? *event.device : event.pid.value_or(-1);
  const std::int64_t stream = event.stream ? *event.stream : event.tid.value_or(-1);
  const std::int64_t context = event.context.value_or(0);
  if (device < 0 || device > kHighestDevice || stream < 0 || stream >= kNone || context < 0 ||
      context >= kNone) {
    Count(KinetoProblem::kNoStream);
    return kNone;
  }
  const auto [entry, is_new] = streams_.try_emplace(
      {device, context, stream}, static_cast<std::uint32_t>(rank_.streams.size()));
  if (is_new)
    rank_.streams.push_back({static_cast<int>(device), static_cast<std::uint32_t>(context),
                             static_cast<std::uint32_t>(stream)});
  return entry->second;
}

std::uint32_t KinetoRankBuilder::StringOf(std::string_view text) {
  if (const auto found = strings_.find(text); found != strings_.end()) return found->second;
  const auto id = static_cast<std::uint32_t>(rank_.strings.size());
  strings_.emplace(text, id);
  rank_.strings.emplace_back(text);
  return id;
}

const KinetoRankBuilder::Text& KinetoRankBuilder::KernelNameOf(std::string_view name) {
  if (const auto found = kernel_names_.find(name); found != kernel_names_.end())
    return found->second;
  const std::string readable = Demangle(name);
  return kernel_names_.emplace(name, Text{StringOf(readable), ClassifyKernel(readable)})
      .first->second;
}

std::uint32_t KinetoRankBuilder::ShapeOf(const KinetoEvent& event, const Text& name) {
  constexpr std::int64_t kMaxRegisters = std::numeric_limits<std::int32_t>::max();
  const std::int64_t registers =
      std::clamp<std::int64_t>(event.registers.value_or(0), 0, kMaxRegisters);
  const std::int64_t shared = SharedBytes(event.shared_bytes.value_or(0));
  const auto& grid = event.grid;
  const auto& block = event.block;
  const ShapeKey key = {name.id,  grid[0],  grid[1],   grid[2], block[0],
                        block[1], block[2], registers, shared};
  const auto [entry, is_new] =
      shapes_.try_emplace(key, static_cast<std::uint32_t>(rank_.shapes.size()));
  if (is_new) {
    KernelShape shape;
    shape.name = name.id;
    shape.kernel_class = name.kernel_class;
    std::copy(grid.begin(), grid.end(), shape.grid);
    std::copy(block.begin(), block.end(), shape.block);
    shape.registers = static_cast<std::int32_t>(registers);
    // The trace tells the sum of both kinds only.
    shape.dynamic_shared_bytes = shared;
    rank_.shapes.push_back(shape);
  }
  return entry->second;
}

std::uint32_t KinetoRankBuilder::GraphNodeOf(const KinetoEvent& event) {
  if (event.graph_node_id.value_or(0) <= 0) return kNone;
  const std::int64_t graph = event.graph_id.value_or(0);
  const auto [entry, is_new] = graph_nodes_.try_emplace(
      {graph, *event.graph_node_id}, static_cast<std::uint32_t>(rank_.graph_nodes.size()));
  if (is_new)
    rank_.graph_nodes.push_back(
        {static_cast<std::uint32_t>(graph), static_cast<std::uint64_t>(*event.graph_node_id)});
  return entry->second;
}

std::uint32_t KinetoRankBuilder::DetailOf(const KinetoEvent& event, GpuOps& ops) {
  if (event.kind == KinetoKind::kKernel) {
    const Text& name = KernelNameOf(event.name);
    ops.kind.push_back(OpKind::kKernel);
    ops.kernel_class.push_back(name.kernel_class);
    return ShapeOf(event, name);
  }
  const bool is_copy = event.kind == KinetoKind::kMemcpy;
  ops.kind.push_back(is_copy ? OpKind::kMemcpy : OpKind::kMemset);
  ops.kernel_class.push_back(is_copy ? KernelClass::kMemcpy : KernelClass::kMemset);
  rank_.transfers.push_back(TransferOf(event));
  return static_cast<std::uint32_t>(rank_.transfers.size() - 1);
}

void KinetoRankBuilder::AddOperation(const KinetoEvent& event) {
  const std::uint32_t stream = StreamOf(event);
  if (stream == kNone) return;
  const auto times = Times(event);
  if (!times) return;
  const int ordinal = rank_.streams[stream].device;
  GpuOps& ops = rank_.devices[DeviceIndex(ordinal)].ops;
  ops.start.push_back(times->first);
  ops.end.push_back(times->second);
  ops.stream.push_back(stream);
  ops.correlation.push_back(
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, event.correlation.value_or(0))));
  ops.graph_node.push_back(GraphNodeOf(event));
  ops.detail.push_back(DetailOf(event, ops));
  ++gpu_operations_;
  if (event.kind == KinetoKind::kKernel && !collectives_.Add(event, ordinal, rank_))
    Count(KinetoProblem::kCollective);
}

std::uint32_t KinetoRankBuilder::ThreadOf(const KinetoEvent& event) {
  if (!event.tid) {
    Count(KinetoProblem::kNoThread);
    return kNone;
  }
  const auto [entry, is_new] = threads_.try_emplace(
      {event.pid.value_or(0), *event.tid}, static_cast<std::uint32_t>(rank_.threads.size()));
  if (is_new) {
    // A trace is of one process.
    if (rank_.threads.empty()) rank_.process.pid = event.pid.value_or(0);
    rank_.threads.push_back({*event.tid, ""});
  }
  return entry->second;
}

std::uint32_t KinetoRankBuilder::ApiNameOf(std::string_view name) {
  if (const auto found = api_names_.find(name); found != api_names_.end()) return found->second;
  const auto id = static_cast<std::uint32_t>(rank_.api_names.size());
  api_names_.emplace(name, id);
  rank_.api_names.push_back({DomainOfApi(name), ClassifyApi(name), std::string(name)});
  return id;
}

void KinetoRankBuilder::AddApi(const KinetoEvent& event) {
  const std::uint32_t thread = ThreadOf(event);
  if (thread == kNone) return;
  const auto times = Times(event);
  if (!times) return;
  ApiCalls& api = rank_.api;
  api.start.push_back(times->first);
  api.end.push_back(times->second);
  api.thread.push_back(thread);
  api.name.push_back(ApiNameOf(event.name));
  api.correlation.push_back(
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, event.correlation.value_or(0))));
  api.result.push_back(0);
}

void KinetoRankBuilder::AddAnnotation(const KinetoEvent& event) {
  const std::uint32_t thread = ThreadOf(event);
  if (thread == kNone) return;
  const auto times = Times(event);
  if (!times) return;
  if (rank_.nvtx_domains.empty()) rank_.nvtx_domains.emplace_back("annotation");
  NvtxRanges& ranges = rank_.nvtx;
  ranges.start.push_back(times->first);
  ranges.end.push_back(times->second);
  ranges.thread.push_back(thread);
  ranges.kind.push_back(NvtxKind::kPushPop);
  ranges.domain.push_back(0);
  ranges.text.push_back(StringOf(event.name));
  ranges.category.push_back(kNone);
  collectives_.AddRange(event, thread);
}

// At times as the trace counts: what the profiler tells of the host is not what the recording
// begins with.
void KinetoRankBuilder::AddProfiled(const KinetoEvent& event) {
  const bool is_operator = event.kind == KinetoKind::kOperator;
  if (!event.start || !event.tid || !IsPlausible(event.dur.value_or(0))) return;
  const std::uint32_t thread = ThreadOf(event);
  ProfiledRanges& ranges = rank_.profiled;
  if (!is_operator)
    python_.functions.push_back({static_cast<std::uint32_t>(ranges.size()),
                                 event.python_id.value_or(-1), event.python_parent.value_or(-1)});
  if (!event.call_stack.empty()) {
    const auto known = call_stacks_.find(event.call_stack);
    const auto index = static_cast<std::uint32_t>(python_.call_stacks.size());
    python_.operators.push_back({static_cast<std::uint32_t>(ranges.size()),
                                 known == call_stacks_.end() ? index : known->second});
    if (known == call_stacks_.end()) {
      call_stacks_.emplace(event.call_stack, index);
      python_.call_stacks.emplace_back(event.call_stack);
    }
  }
  if (is_operator) {
    collectives_.AddRange(event, thread);
    products_.Add(event, static_cast<std::uint32_t>(ranges.size()));
  }
  ranges.start.push_back(*event.start);
  ranges.end.push_back(std::max<TimeNs>(0, event.dur.value_or(0)));
  ranges.thread.push_back(thread);
  ranges.kind.push_back(is_operator ? ProfiledKind::kOperator : ProfiledKind::kPythonFunction);
  ranges.name.push_back(StringOf(event.name));
  ranges.input_shapes.push_back(event.input_shapes.empty() ? kNone : StringOf(event.input_shapes));
  ranges.sequence.push_back(is_operator ? event.sequence.value_or(-1) : -1);
  ranges.forward_thread.push_back(
      is_operator ? Narrow(std::max<std::int64_t>(0, event.forward_thread.value_or(0))) : 0);
}

// Of those that are no times of this trace, nothing is left but a moment at its beginning.
void KinetoRankBuilder::MoveProfiledToAnchor() {
  constexpr TimeNs kFarthest = std::numeric_limits<TimeNs>::max() / 2;
  ProfiledRanges& ranges = rank_.profiled;
  TimeColumn starts, ends;
  for (std::size_t row = 0; row < ranges.size(); ++row) {
    const TimeNs start = ranges.start[row];
    const bool fits = start <= kFarthest && start >= -kFarthest && IsPlausible(start - anchor_ns());
    const TimeNs moved = fits ? start - anchor_ns() : 0;
    starts.push_back(moved);
    ends.push_back(fits ? moved + ranges.end[row] : 0);
  }
  ranges.start = std::move(starts);
  ranges.end = std::move(ends);
}

void KinetoRankBuilder::AddSpan(const KinetoEvent& event) {
  if (const auto times = Times(event)) span_ = times;
}

void KinetoRankBuilder::AddThreadName(const KinetoEvent& event) {
  if (!event.pid || !event.tid) return;
  // "thread 4711 (pt_main_thread)"; the number is known.
  std::string_view name = event.label;
  const std::size_t open = name.find(" ("), close = name.rfind(')');
  if (name.starts_with("thread ")) {
    name = open != std::string_view::npos && close != std::string_view::npos && close > open
               ? name.substr(open + 2, close - open - 2)
               : std::string_view{};
  }
  thread_names_[{*event.pid, *event.tid}] = name;
}

void KinetoRankBuilder::NameThreads() {
  for (const auto& [key, index] : threads_) {
    const auto found = thread_names_.find(key);
    if (found != thread_names_.end()) rank_.threads[index].name = found->second;
  }
  const auto process = process_names_.find(rank_.process.pid);
  if (process != process_names_.end()) rank_.process.executable = process->second;
}

// The trace does not report whether the host waited for a copy; the call that made it does.
void KinetoRankBuilder::SetAsync() {
  for (Device& device : rank_.devices) {
    const GpuOps& ops = device.ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (ops.kind[i] != OpKind::kMemcpy || ops.launch[i] == kNone) continue;
      const std::string& call = rank_.api_names[rank_.api.name[ops.launch[i]]].name;
      rank_.transfers[ops.detail[i]].async = call.find("Async") != std::string::npos;
    }
  }
}

TimeNs KinetoRankBuilder::FirstStart() const {
  TimeNs first = span_ ? span_->first : 0;
  const auto look = [&](const TimeColumn& start) {
    if (!start.empty()) first = std::min(first, start.front());
  };
  for (const Device& device : rank_.devices) look(device.ops.start);
  look(rank_.api.start);
  look(rank_.nvtx.start);
  return first;
}

void KinetoRankBuilder::Finish(Repairs repairs) {
  MoveProfiledToAnchor();
  AddPythonStacks(python_, rank_);
  products_.Place(rank_);
  SortRank(rank_);
  JoinLaunches(rank_);
  NameThreads();
  SetAsync();
  FindLoadersAndSteps(rank_);
  collectives_.Place(anchor_ns(), rank_);
  FindTf32Products(rank_);
  rank_.imported_from = kKinetoSource.what;
  rank_.closed = true;
  rank_.start = FirstStart();
  rank_.end = span_ ? span_->second : kOpen;
  if (repairs == Repairs::kDone) FinishRank(rank_);
}

std::vector<std::string> KinetoRankBuilder::Notes() const {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < problems_.size(); ++i) {
    if (problems_[i] == 0) continue;
    notes.push_back(fmt::format("{}: {} event{} {}", rank_.path, FormatCount(problems_[i]),
                                problems_[i] == 1 ? "" : "s",
                                Explain(static_cast<KinetoProblem>(i))));
  }
  return notes;
}

}  // namespace traceinject
