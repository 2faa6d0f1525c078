// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/load/generated_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "analyzer/view/rows/row_ids.h"
#include "analyzer/view/run/device_findings.h"
#include "analyzer/view/run/stack_lanes.h"

namespace traceinject {
namespace {

constexpr std::uint64_t kRanks = 8, kStreams = 3;
constexpr std::uint32_t kColumnRows = 4'096;  // behind all events of a kind
// Shares of a rank's events; kernels take the rest.
constexpr std::uint64_t kCallsPercent = 40, kRangesPercent = 15;
constexpr TimeNs kPeriodNs = 6'000;  // from launch to launch
constexpr TimeNs kPauseNs = 5'000'000;
constexpr std::uint64_t kPauseEvery = 20'000;  // kernels
constexpr std::array kClasses = {KernelClass::kGemm, KernelClass::kElementwise, KernelClass::kNorm,
                                 KernelClass::kAttentionForward, KernelClass::kComm};
constexpr std::array kNames = {"sm90_xmma_gemm_bf16", "vectorized_elementwise_kernel",
                               "layer_norm_kernel", "flash_fwd_kernel", "ncclDevKernel_AllReduce"};
constexpr std::uint32_t kNested = 4;  // NVTX ranges inside each other
constexpr std::uint64_t kStepKernels = 2'000;
constexpr std::array kCauses = {IdleCause::kLaunch, IdleCause::kLaunch, IdleCause::kPython,
                                IdleCause::kQueued};
constexpr std::uint32_t kFrameDepth = 24;  // of Python
constexpr std::uint32_t kStacks = 64;      // that differ from some depth on
constexpr std::uint64_t kEventsALook = 20;
constexpr std::uint64_t kDepthChanges = 2;  // of the queue, a kernel

class RankMaker {
 public:
  RankMaker(std::uint32_t index, std::uint64_t events)
      : index_(index),
        calls_(events * kCallsPercent / 100),
        ranges_(events * kRangesPercent / 100),
        kernels_(events - calls_ - ranges_),
        random_(index) {}

  Rank MakeRank() const {
    Rank rank;
    rank.rank = static_cast<int>(index_);
    rank.path = "generated";
    rank.process.pid = 100 + index_;
    rank.closed = true;
    rank.end = length();
    rank.threads = {{.tid = 100, .name = "python"}};
    rank.api_names = {{ApiDomain::kRuntime, ApiClass::kLaunch, "cudaLaunchKernel"}};
    rank.nvtx_domains = {""};
    for (std::uint32_t i = 0; i < kNames.size(); ++i) {
      rank.strings.emplace_back(kNames[i]);
      rank.shapes.push_back({.name = i, .kernel_class = kClasses[i]});
    }
    for (std::uint32_t i = 0; i < kStreams; ++i) {
      rank.streams.push_back({.device = 0, .context = 1, .stream_id = 7 + 6 * i});
    }
    Device& device = rank.devices.emplace_back();
    device.name = "generated";
    for (std::uint32_t i = 0; i < kColumnRows; ++i) AddColumnRow(rank, device.ops, i);
    AddStacks(rank);
    return rank;
  }

  void AddRows(const Rank& rank, std::vector<Row>& rows) {
    const std::uint32_t heading = Add(rows, RowKind::kRank, fmt::format("rank {}", index_), kNone);
    AddSteps(rows, heading);
    AddDevice(rows, heading);
    const std::uint32_t host = Add(rows, RowKind::kHost, "host", heading);
    AddThreadRow(rows, RowKind::kNvtx, "thread 100: NVTX", host, MakeRanges());
    AddStackRows(rows, host, StackLanesOf(rank).front());
    AddThreadRow(rows, RowKind::kCalls, "thread 100: CUDA calls", host, MakeCalls());
  }

  TimeNs length() const { return StartOf(kernels_); }

 private:
  struct Kernels {
    LaneEvents all, idle;
    std::array<LanePacker, kStreams> of_stream;
  };

  static void AddColumnRow(Rank& rank, GpuOps& ops, std::uint32_t i) {
    const TimeNs start = i * kPeriodNs, end = start + kPeriodNs / 2;
    const auto shape = static_cast<std::uint32_t>(i % kClasses.size());
    ops.start.push_back(start);
    ops.end.push_back(end);
    ops.kind.push_back(OpKind::kKernel);
    ops.kernel_class.push_back(kClasses[shape]);
    ops.stream.push_back(static_cast<std::uint32_t>(i % kStreams));
    ops.detail.push_back(shape);
    ops.correlation.push_back(i + 1);
    ops.launch.push_back(i);
    ops.graph_node.push_back(kNone);
    rank.api.start.push_back(start);
    rank.api.end.push_back(end);
    rank.api.thread.push_back(0);
    rank.api.name.push_back(0);
    rank.api.correlation.push_back(i + 1);
    rank.api.result.push_back(0);
    rank.nvtx.start.push_back(start);
    rank.nvtx.end.push_back(end);
    rank.nvtx.thread.push_back(0);
    rank.nvtx.kind.push_back(NvtxKind::kPushPop);
    rank.nvtx.domain.push_back(0);
    rank.nvtx.text.push_back(shape);
    rank.nvtx.category.push_back(kNone);
  }

  // Of stacks that have their outer frames in common, looks in turns, now and then several alike.
  void AddStacks(Rank& rank) const {
    const auto strings = static_cast<std::uint32_t>(rank.strings.size());
    rank.strings.insert(rank.strings.end(), {"train", "/home/me/train.py", "call",
                                             "/usr/lib/python3/dist-packages/torch/nn.py"});
    std::vector<std::uint32_t> innermost;
    for (std::uint32_t stack = 0; stack < kStacks; ++stack) {
      const std::uint32_t shared = stack == 0 ? 0 : stack % kFrameDepth;
      std::uint32_t caller = shared == 0 ? kNone : shared - 1;
      for (std::uint32_t depth = shared; depth < kFrameDepth; ++depth) {
        const std::uint32_t library = depth % 8 < 2 ? 0 : 2;
        rank.places.push_back({strings + library, strings + library + 1,
                               static_cast<std::int32_t>(1 + stack * kFrameDepth + depth), 0});
        rank.stacks.push_back({caller, static_cast<std::uint32_t>(rank.places.size()) - 1});
        caller = static_cast<std::uint32_t>(rank.stacks.size()) - 1;
      }
      innermost.push_back(caller);
    }
    const std::uint64_t looks =
        std::max<std::uint64_t>((calls_ + ranges_ + kernels_) / kEventsALook, 1);
    const TimeNs period = std::max<TimeNs>(length() / static_cast<TimeNs>(looks), 1);
    rank.facts.push_back({"stacks", "period_ns", fmt::format("{}", period), ""});
    StackSamples& samples = rank.stack_samples;
    for (std::uint64_t i = 0; i < looks; ++i) {
      samples.time.push_back(static_cast<TimeNs>(i) * period);
      samples.thread.push_back(0);
      samples.stack.push_back(innermost[i * i / 3 % kStacks]);
      samples.kind.push_back(StackKind::kTimed);
      samples.correlation.push_back(0);
      samples.repeats.push_back(0);
      samples.span.push_back(0);
    }
  }

  // Where the row stands.
  std::uint32_t Add(std::vector<Row>& rows, RowKind kind, std::string label,
                    std::uint32_t parent) const {
    Row& row = rows.emplace_back();
    row.kind = kind;
    row.parent = parent;
    row.rank = index_;
    row.label = std::move(label);
    return static_cast<std::uint32_t>(rows.size()) - 1;
  }

  Row& AddDeviceRow(std::vector<Row>& rows, RowKind kind, std::string label,
                    std::uint32_t parent) const {
    Row& row = rows[Add(rows, kind, std::move(label), parent)];
    row.device = 0;
    return row;
  }

  void AddThreadRow(std::vector<Row>& rows, RowKind kind, std::string label, std::uint32_t parent,
                    PackedLanes lanes) const {
    Row& row = rows[Add(rows, kind, std::move(label), parent)];
    row.thread = 0;
    SetLanes(row, std::move(lanes));
  }

  void AddStackRows(std::vector<Row>& rows, std::uint32_t parent, StackLanes stacks) const {
    const std::uint32_t code = Add(rows, RowKind::kCode, "thread 100: Python", parent);
    rows[code].thread = 0;
    rows[code].lanes.emplace_back(std::move(stacks.lines));
    Row& frames = rows[Add(rows, RowKind::kFrames, "thread 100: frames", code)];
    frames.thread = 0;
    for (LaneEvents& lane : stacks.frames) frames.lanes.emplace_back(std::move(lane));
  }

  // When a kernel starts.
  static TimeNs StartOf(std::uint64_t kernel) {
    return static_cast<TimeNs>(kernel) * kPeriodNs +
           static_cast<TimeNs>(kernel / kPauseEvery) * kPauseNs;
  }

  void AddSteps(std::vector<Row>& rows, std::uint32_t parent) const {
    Steps steps;
    Row& row = AddDeviceRow(rows, RowKind::kSteps, "steps", parent);
    for (std::uint64_t kernel = 0; kernel < kernels_; kernel += kStepKernels) {
      Step& step = steps.steps.emplace_back();
      step.time = {StartOf(kernel), StartOf(std::min(kernel + kStepKernels, kernels_))};
      row.names.push_back(fmt::format("step {}", steps.steps.size()));
    }
    row.lanes.emplace_back(StepEvents(steps));
  }

  void AddDevice(std::vector<Row>& rows, std::uint32_t parent) {
    Kernels kernels = MakeKernels();
    AddDeviceRow(rows, RowKind::kDevice, "GPU 0", parent)
        .lanes.emplace_back(FlattenByCategory(std::exchange(kernels.all, {})));
    const auto device = static_cast<std::uint32_t>(rows.size()) - 1;
    AddDeviceRow(rows, RowKind::kIdle, "idle", device).lanes.emplace_back(std::move(kernels.idle));
    AddDeviceRow(rows, RowKind::kQueueDepth, "queue depth", device).counter.emplace(MakeDepth());
    for (std::uint32_t stream = 0; stream < kStreams; ++stream) {
      Row& row =
          AddDeviceRow(rows, RowKind::kStream, fmt::format("stream {}", 7 + 6 * stream), device);
      row.stream = stream;
      SetLanes(row, kernels.of_stream[stream].Take());
    }
  }

  // Each kernel is launched and begins.
  CounterSeries MakeDepth() {
    CounterPoints depth;
    for (std::uint64_t i = 0; i < kDepthChanges * kernels_; ++i) {
      depth.Add(StartOf(i / kDepthChanges) + static_cast<TimeNs>(i % kDepthChanges) * 3'000,
                static_cast<std::int32_t>(UpTo(200)));
    }
    return {std::move(depth), length()};
  }

  TimeNs UpTo(TimeNs most) { return std::uniform_int_distribution<TimeNs>(0, most)(random_); }

  // A row of the columns with the class.
  static std::uint32_t SourceOf(std::uint64_t event, std::size_t kind) {
    const std::uint64_t row = event % (kColumnRows / kClasses.size()) * kClasses.size() + kind;
    return static_cast<std::uint32_t>(row);
  }

  // Mostly short, some long, on streams that overlap each other; a few begin before the one before
  // them in their stream ends. Where none runs the GPU is idle.
  Kernels MakeKernels() {
    Kernels kernels;
    TimeNs busy_until = 0;
    for (std::uint64_t i = 0; i < kernels_; ++i) {
      const TimeNs time = StartOf(i);
      if (busy_until < time) {
        kernels.idle.Add(busy_until, time, SourceOf(i, i % 4), InkOf(kCauses[i % kCauses.size()]));
      }
      const std::size_t kind = i % 20 == 0 ? 4 : i % 4;
      const TimeNs end = time + 1'500 + UpTo(5'000) + (i % 200 == 0 ? 60'000 : 0);
      const std::size_t stream = kind == 4 ? 1 : i % 16 == 3 ? 2 : 0;
      const Ink ink = InkOf(kClasses[kind]);
      kernels.all.Add(time, end, SourceOf(i, kind), ink);
      kernels.of_stream[stream].Add(time, end, SourceOf(i, kind), ink);
      busy_until = std::max(busy_until, end);
    }
    return kernels;
  }

  PackedLanes MakeCalls() {
    LanePacker calls;
    for (std::uint64_t i = 0; i < calls_; ++i) {
      const TimeNs start = static_cast<TimeNs>(i) * kPeriodNs;
      calls.Add(start, start + 2'000 + UpTo(2'500), static_cast<std::uint32_t>(i % kColumnRows),
                InkOf(ApiClass::kLaunch));
    }
    return calls.Take();
  }

  // The length of the run in equal parts, each with kNested ranges inside each other.
  PackedLanes MakeRanges() const {
    LanePacker ranges;
    const std::uint64_t parts = std::max<std::uint64_t>(ranges_ / kNested, 1);
    const TimeNs part_ns = length() / static_cast<TimeNs>(parts);
    for (std::uint64_t i = 0; i < parts; ++i) {
      for (std::uint32_t depth = 0; depth < kNested; ++depth) {
        const TimeNs inset = part_ns * depth / (3 * kNested);
        const TimeNs start = static_cast<TimeNs>(i) * part_ns;
        ranges.Add(start + inset, start + part_ns - 1 - inset, (i + depth) % kColumnRows,
                   NvtxInk(kNames[(i + depth) % kNames.size()]));
      }
    }
    return ranges.Take();
  }

  std::uint32_t index_;
  std::uint64_t calls_, ranges_, kernels_;
  std::mt19937 random_;
};

}  // namespace

std::unique_ptr<const LoadedRun> GenerateRun(std::uint64_t events) {
  auto loaded = std::make_unique<LoadedRun>();
  RowModel& model = loaded->rows;
  for (std::uint32_t index = 0; index < kRanks; ++index) {
    RankMaker maker(index, events / kRanks);
    loaded->run.ranks.push_back(maker.MakeRank());
    const Rank& rank = loaded->run.ranks.back();
    maker.AddRows(rank, model.rows);
    model.place_labels.push_back(PlaceLabels(rank));
    model.looks.push_back(CountLooksOfThreads(rank));
    model.end = std::max(model.end, maker.length());
    model.kernel_labels.emplace_back(kNames.begin(), kNames.end());
    model.kernel_hues.push_back(NameHues(model.kernel_labels.back()));
  }
  SetRowIds(loaded->run, model.rows);
  model.kernel_classes.assign(kClasses.begin(), kClasses.end());
  return loaded;
}

}  // namespace traceinject
