// SPDX-License-Identifier: Apache-2.0
// Builds a Rank by hand for tests. Rows of each kind are added in order of their start, as the
// model holds them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "analyzer/model/kernel_class.h"
#include "analyzer/model/run.h"

namespace traceinject {

class RankBuilder {
 public:
  struct Range {
    TimeNs start, end;
    std::string text;
    std::string domain = "";
    std::uint32_t thread = 0;
    NvtxKind kind = NvtxKind::kPushPop;
  };
  struct Call {
    TimeNs start, end;
    std::string function;
    std::int64_t bytes;
    std::uint32_t communicator = kNone;
    std::uint32_t thread = 0;
  };

  RankBuilder() {
    rank_.path = "run.db";
    rank_.closed = true;
    rank_.threads = {{100, "python"}, {101, "autograd"}};
    rank_.streams = {{0, 1, 7}};
    AddDevice("NVIDIA H200");
  }

  // Ordinals count up; the constructor has added device 0.
  std::size_t AddDevice(const std::string& name) {
    Device device;
    device.ordinal = static_cast<int>(rank_.devices.size());
    device.name = name;
    rank_.devices.push_back(device);
    return rank_.devices.size() - 1;
  }
  std::uint32_t AddApi(TimeNs start, TimeNs end, const std::string& name,
                       std::uint32_t thread = 0) {
    auto known = std::find_if(rank_.api_names.begin(), rank_.api_names.end(),
                              [&](const ApiName& api) { return api.name == name; });
    if (known == rank_.api_names.end()) {
      known = rank_.api_names.insert(known, {ApiDomain::kRuntime, ClassOf(name), name});
    }
    ApiCalls& api = rank_.api;
    api.start.push_back(start);
    api.end.push_back(end);
    api.thread.push_back(thread);
    api.name.push_back(static_cast<std::uint32_t>(known - rank_.api_names.begin()));
    api.correlation.push_back(api.size());
    api.result.push_back(0);
    return static_cast<std::uint32_t>(api.size() - 1);
  }
  struct Frame {
    std::string function, file;
    std::int32_t line = 1;
    std::string module = {};
  };
  // The outermost frame first. Returns the index of the stack.
  std::uint32_t AddStack(const std::vector<Frame>& frames) {
    std::uint32_t stack = kNone;
    for (const Frame& frame : frames) {
      const CodePlace wanted{String(frame.function), String(frame.file), frame.line, 0};
      auto place =
          std::find_if(rank_.places.begin(), rank_.places.end(), [&](const CodePlace& other) {
            return other.function == wanted.function && other.file == wanted.file &&
                   other.line == wanted.line;
          });
      if (place == rank_.places.end()) place = rank_.places.insert(place, wanted);
      rank_.stacks.push_back({stack, static_cast<std::uint32_t>(place - rank_.places.begin()),
                              frame.module.empty() ? kNone : String(frame.module)});
      stack = static_cast<std::uint32_t>(rank_.stacks.size() - 1);
    }
    return stack;
  }
  void AddLook(TimeNs time, std::uint32_t stack, StackKind kind = StackKind::kTimed,
               std::uint64_t correlation = 0, std::uint32_t thread = 0, std::uint32_t repeats = 0,
               TimeNs span = 0) {
    StackSamples& samples = rank_.stack_samples;
    samples.time.push_back(time);
    samples.thread.push_back(thread);
    samples.stack.push_back(stack);
    samples.kind.push_back(kind);
    samples.correlation.push_back(correlation);
    samples.repeats.push_back(repeats);
    samples.span.push_back(span);
  }
  // Of the operations that are added from now on.
  void UseStream(std::uint32_t stream) { stream_ = stream; }
  void AddKernel(TimeNs start, TimeNs end, const std::string& name, std::uint32_t launch = kNone,
                 std::size_t device = 0, std::int32_t grid_x = 1) {
    KernelShape shape;
    shape.name = String(name);
    shape.kernel_class = ClassifyKernel(name);
    shape.grid[0] = grid_x;
    shape.grid[1] = shape.grid[2] = shape.block[1] = shape.block[2] = 1;
    shape.block[0] = 128;
    auto known =
        std::find_if(rank_.shapes.begin(), rank_.shapes.end(), [&](const KernelShape& other) {
          return other.name == shape.name && other.grid[0] == grid_x;
        });
    if (known == rank_.shapes.end()) known = rank_.shapes.insert(known, shape);
    AddOp(device, start, end, OpKind::kKernel, shape.kernel_class,
          static_cast<std::uint32_t>(known - rank_.shapes.begin()), launch);
  }
  void AddCopy(TimeNs start, TimeNs end, const Transfer& transfer, std::uint32_t launch = kNone,
               std::size_t device = 0) {
    rank_.transfers.push_back(transfer);
    AddOp(device, start, end, OpKind::kMemcpy, KernelClass::kMemcpy,
          static_cast<std::uint32_t>(rank_.transfers.size() - 1), launch);
  }
  void AddMemset(TimeNs start, TimeNs end, std::int64_t bytes, std::uint32_t launch = kNone,
                 std::size_t device = 0) {
    Transfer transfer;
    transfer.bytes = bytes;
    rank_.transfers.push_back(transfer);
    AddOp(device, start, end, OpKind::kMemset, KernelClass::kMemset,
          static_cast<std::uint32_t>(rank_.transfers.size() - 1), launch);
  }
  void AddRange(const Range& range) {
    auto known = std::find(rank_.nvtx_domains.begin(), rank_.nvtx_domains.end(), range.domain);
    if (known == rank_.nvtx_domains.end()) known = rank_.nvtx_domains.insert(known, range.domain);
    NvtxRanges& nvtx = rank_.nvtx;
    nvtx.start.push_back(range.start);
    nvtx.end.push_back(range.end);
    nvtx.thread.push_back(range.thread);
    nvtx.kind.push_back(range.kind);
    nvtx.domain.push_back(static_cast<std::uint32_t>(known - rank_.nvtx_domains.begin()));
    nvtx.text.push_back(String(range.text));
    nvtx.category.push_back(kNone);
  }
  std::uint32_t AddCommunicator(std::optional<int> size, std::optional<int> own_rank = std::nullopt,
                                std::optional<int> device = std::nullopt,
                                std::uint64_t hash = 0xC0FFEE) {
    Communicator communicator;
    communicator.hash = hash;
    communicator.size = size;
    communicator.rank = own_rank;
    communicator.device = device;
    rank_.communicators.push_back(communicator);
    return static_cast<std::uint32_t>(rank_.communicators.size() - 1);
  }
  void AddCall(const Call& call) {
    Collectives& calls = rank_.collectives;
    calls.start.push_back(call.start);
    calls.end.push_back(call.end);
    calls.thread.push_back(call.thread);
    calls.function.push_back(String(call.function));
    calls.communicator.push_back(call.communicator);
    calls.bytes.push_back(call.bytes);
    calls.reduction.push_back(-1);
    calls.peer.push_back(-1);
    calls.root.push_back(-1);
    calls.plan.push_back(kNone);
  }
  // How the call was executed: by the kernel of `launch`, a row of the CUDA calls. Those of one
  // call follow each other.
  void AddPlan(std::uint32_t call, std::uint32_t launch, const std::string& algorithm = "RING",
               const std::string& protocol = "SIMPLE") {
    CollectivePlans& plans = rank_.plans;
    std::uint32_t& first = rank_.collectives.plan[call];
    if (first == kNone) first = static_cast<std::uint32_t>(plans.size());
    plans.collective.push_back(call);
    plans.time.push_back(rank_.collectives.end[call]);
    plans.thread.push_back(rank_.collectives.thread[call]);
    plans.sequence.push_back(5);
    plans.count.push_back(1024);
    plans.datatype.push_back(String("ncclBfloat16"));
    plans.algorithm.push_back(String(algorithm));
    plans.protocol.push_back(String(protocol));
    plans.channels.push_back(24);
    plans.warps.push_back(17);
    plans.launch_start.push_back(kOpen);
    plans.launch_end.push_back(kOpen);
    plans.launch.push_back(launch);
  }

  // Of device 0, by a call of Rank::api.
  void AddMemory(TimeNs time, std::int64_t bytes, std::uint64_t address,
                 std::uint32_t call = kNone) {
    MemoryOperations& memory = rank_.memory;
    memory.time.push_back(time);
    memory.device.push_back(0);
    memory.release.push_back(false);
    memory.memory_kind.push_back(3);
    memory.bytes.push_back(bytes);
    memory.address.push_back(address);
    memory.correlation.push_back(call == kNone ? 0 : rank_.api.correlation[call]);
  }
  void ReleaseMemory(TimeNs time, std::uint64_t address, std::uint32_t call = kNone) {
    AddMemory(time, 0, address, call);
    rank_.memory.release.back() = true;
  }
  void AddGemm(TimeNs start, TimeNs end, const GemmShape& shape, std::uint32_t thread = 0) {
    GemmShape named = shape;
    named.function = String("cublasGemmEx");
    std::vector<GemmShape>& shapes = rank_.gemm_shapes;
    auto known = std::find(shapes.begin(), shapes.end(), named);
    if (known == shapes.end()) known = shapes.insert(known, named);
    Gemms& gemms = rank_.gemms;
    gemms.start.push_back(start);
    gemms.end.push_back(end);
    gemms.thread.push_back(thread);
    gemms.shape.push_back(static_cast<std::uint32_t>(known - shapes.begin()));
  }
  // `end` kOpen: not known.
  void AddAttention(TimeNs start, TimeNs end, const AttentionShape& shape, bool backward = false,
                    std::uint32_t thread = 0) {
    rank_.attention_shapes.push_back(shape);
    Attentions& attentions = rank_.attentions;
    attentions.start.push_back(start);
    attentions.end.push_back(end);
    attentions.thread.push_back(thread);
    attentions.shape.push_back(static_cast<std::uint32_t>(rank_.attention_shapes.size() - 1));
    attentions.backward.push_back(backward ? 1 : 0);
    attentions.gradient.push_back(backward ? -1 : 1);
  }
  void AddDataWait(TimeNs start, TimeNs end, std::uint32_t loader = kNone, std::uint32_t thread = 0,
                   std::int64_t samples = -1) {
    DataWaits& waits = rank_.data_waits;
    waits.start.push_back(start);
    waits.end.push_back(end);
    waits.thread.push_back(thread);
    waits.loader.push_back(loader);
    waits.batch.push_back(-1);
    waits.samples.push_back(samples);
  }
  void AddStepMark(TimeNs time, std::uint32_t optimizer = 1, std::uint32_t thread = 0) {
    rank_.step_marks.time.push_back(time);
    rank_.step_marks.thread.push_back(thread);
    rank_.step_marks.optimizer.push_back(optimizer);
  }
  void AddSpan(TimeNs start, TimeNs end, HostSpanKind kind, std::int32_t detail = -1,
               std::uint32_t thread = 0) {
    HostSpans& spans = rank_.host_spans;
    spans.start.push_back(start);
    spans.end.push_back(end);
    spans.thread.push_back(thread);
    spans.kind.push_back(kind);
    spans.detail.push_back(detail);
  }

  Rank& rank() { return rank_; }
  GpuOps& ops(std::size_t device = 0) { return rank_.devices[device].ops; }

 private:
  static ApiClass ClassOf(std::string_view name) {
    const auto has = [&](std::string_view part) {
      return name.find(part) != std::string_view::npos;
    };
    if (has("GraphLaunch")) return ApiClass::kGraphLaunch;
    if (has("Launch")) return ApiClass::kLaunch;
    if (has("Memcpy")) return ApiClass::kCopy;
    if (has("Memset")) return ApiClass::kMemset;
    if (has("Synchronize")) return ApiClass::kSynchronize;
    if (has("Malloc") || has("Free") || has("HostAlloc")) return ApiClass::kAllocate;
    return ApiClass::kOther;
  }
  std::uint32_t String(const std::string& text) {
    auto known = std::find(rank_.strings.begin(), rank_.strings.end(), text);
    if (known == rank_.strings.end()) known = rank_.strings.insert(known, text);
    return static_cast<std::uint32_t>(known - rank_.strings.begin());
  }
  void AddOp(std::size_t device, TimeNs start, TimeNs end, OpKind kind, KernelClass kernel_class,
             std::uint32_t detail, std::uint32_t launch) {
    GpuOps& to = ops(device);
    to.start.push_back(start);
    to.end.push_back(end);
    to.kind.push_back(kind);
    to.kernel_class.push_back(kernel_class);
    to.stream.push_back(stream_);
    to.detail.push_back(detail);
    to.correlation.push_back(launch == kNone ? 0 : launch + 1);
    to.launch.push_back(launch);
    to.graph_node.push_back(kNone);
  }

  Rank rank_;
  std::uint32_t stream_ = 0;
};

}  // namespace traceinject
