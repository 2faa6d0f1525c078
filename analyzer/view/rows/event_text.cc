// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/event_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "analyzer/common/units.h"
#include "analyzer/metrics/idle/copies.h"
#include "analyzer/metrics/kernels/matrix_products.h"
#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/model/kernel_class.h"
#include "analyzer/view/rows/code_text.h"
#include "analyzer/view/rows/surroundings.h"
#include "analyzer/view/run/device_findings.h"

namespace traceinject {
namespace {

std::string_view ReductionName(std::int32_t reduction) {
  constexpr std::string_view kNames[] = {"sum", "product", "max", "min", "average"};
  return reduction < static_cast<std::int32_t>(std::size(kNames)) ? kNames[reduction]
                                                                  : "user-defined";
}

std::string_view OpLabel(const Rank& rank, const std::vector<std::string>& kernel_labels,
                         const GpuOps& ops, std::uint32_t op) {
  switch (ops.kind[op]) {
    case OpKind::kKernel:
      return kernel_labels[ops.detail[op]];
    case OpKind::kMemcpy:
      return CopyDirectionName(rank.transfers[ops.detail[op]].kind);
    case OpKind::kMemset:
      return kMemsetLabel;
  }
  return "";
}

std::string_view HostSpanText(HostSpanKind kind) {
  switch (kind) {
    case HostSpanKind::kCheckpoint:
      return "checkpoint";
    case HostSpanKind::kGarbageCollection:
      return "garbage collection";
    case HostSpanKind::kGpuWait:
      break;
  }
  return "GPU wait";
}

std::string Dimensions(const std::int32_t (&values)[3]) {
  return fmt::format("{} x {} x {}", values[0], values[1], values[2]);
}

// Signed, because a kernel may seem to start before its launch where clocks disagree.
std::string FormatDelay(TimeNs delay_ns) {
  return delay_ns < 0 ? "-" + FormatTime(-delay_ns) : FormatTime(delay_ns);
}

// What the cause of idle time means, in a sentence.
std::string_view IdleCauseText(IdleCause cause) {
  switch (cause) {
    case IdleCause::kDataWait:
      return "the program waited for its data loader";
    case IdleCause::kSync:
      return "the host waited in a synchronizing call";
    case IdleCause::kDrainedBySync:
      return "a synchronizing call had drained the GPU's queue; the host was preparing the next "
             "launch";
    case IdleCause::kAllocator:
      return "GPU memory was allocated or freed, or the host was delayed by that";
    case IdleCause::kCheckpoint:
      return "a checkpoint was being written";
    case IdleCause::kGc:
      return "Python collected garbage";
    case IdleCause::kLaunch:
      return "the host was inside launch calls, or the launch had not reached the GPU yet";
    case IdleCause::kPython:
      return "the host ran code between two CUDA calls";
    case IdleCause::kHostWait:
      return "long stretch with nothing recorded on the host";
    case IdleCause::kCopy:
      return "a copy was prepared or waited for";
    case IdleCause::kCommunication:
      return "communication was about to start or finish";
    case IdleCause::kQueued:
      return "the work was queued in time: the GPU was switching operations";
    case IdleCause::kUnknown:
      break;
  }
  return "unknown: the next launch was not recorded, or nothing followed";
}

class Details {
 public:
  Details(const Run& run, const RowModel& model, const EventRef& ref, const LinkedEvents& linked)
      : run_(run),
        model_(model),
        ref_(ref),
        linked_(linked),
        ink_(model.lane(ref).ink(ref.event)),
        row_(model.rows[ref.row]),
        rank_(run.ranks[row_.rank]),
        source_(model.lane(ref).source(ref.event)) {}

  std::vector<Detail> All(std::pair<TimeNs, TimeNs> times) {
    start_ = times.first;
    end_ = times.second;
    switch (row_.kind) {
      case RowKind::kDevice:
      case RowKind::kStream:
        AddOperation(rank_.devices[row_.device].ops);
        break;
      case RowKind::kCalls:
        AddCall();
        break;
      case RowKind::kNvtx:
        AddRange();
        break;
      case RowKind::kCode:
      case RowKind::kFrames:
        AddCode();
        break;
      case RowKind::kCollectives:
        AddCollective();
        break;
      case RowKind::kSteps:
        AddStep();
        break;
      case RowKind::kIdle:
        AddIdle();
        break;
      case RowKind::kOperators:
        AddOperator();
        break;
      case RowKind::kDataWaits:
        AddDataWait();
        break;
      case RowKind::kHostSpans:
        AddHostSpan();
        break;
      case RowKind::kRank:
      case RowKind::kHost:
      case RowKind::kQueueDepth:
      case RowKind::kSampleHeading:
      case RowKind::kSamples:
      case RowKind::kQuiet:
        break;
    }
    return std::move(lines_);
  }

 private:
  void Add(std::string what, std::string value) {
    lines_.emplace_back(std::move(what), std::move(value));
  }

  void AddTimes(TimeNs recorded_end) {
    Add("start", FormatMoment(model_, start_));
    Add("duration", recorded_end == kOpen
                        ? FormatTime(end_ - start_) + " or more: its end was not recorded"
                        : FormatTime(end_ - start_));
  }

  void AddThread(std::uint32_t thread) { Add("thread", ThreadText(rank_.threads[thread])); }

  // "step 16 > forward": the ranges around a moment on a thread, without the event itself.
  void AddStack(std::uint32_t thread, TimeNs time) {
    std::string stack;
    for (const EventRef& range : EventsAround(model_, RowKind::kNvtx, {row_.rank, thread, time})) {
      if (range == ref_) continue;
      const std::string_view text =
          rank_.string(rank_.nvtx.text[model_.lane(range).source(range.event)]);
      if (!stack.empty()) stack += " > ";
      stack += text.empty() ? "(without text)" : text;
    }
    if (!stack.empty()) Add("inside", stack);
  }

  // Of a communication kernel: the call that it was launched for, which may lie before its launch
  // (calls of a group); else the call around the launch.
  std::optional<EventRef> CollectiveOf(std::uint32_t launch) const {
    for (const EventRef& cause : linked_.causes) {
      if (model_.rows[cause.row].kind == RowKind::kCollectives) return cause;
    }
    const auto around =
        EventsAround(model_, RowKind::kCollectives,
                     {row_.rank, rank_.api.thread[launch], rank_.api.start[launch]});
    return around.empty() ? std::nullopt : std::optional(around.back());
  }

  // The calls that NCCL said it executed with the launch, else the one that CollectiveOf finds.
  void AddCollectiveOfLaunch(std::uint32_t launch) {
    const std::vector<std::uint32_t>& launches = rank_.plans.launch;
    const auto first = std::find(launches.begin(), launches.end(), launch);
    if (first != launches.end()) {
      const std::uint32_t source =
          rank_.plans.collective[static_cast<std::size_t>(first - launches.begin())];
      const auto others = std::count(first, launches.end(), launch) - 1;
      const std::string function(rank_.string(rank_.collectives.function[source]));
      Add("issued by",
          others == 0 ? function : fmt::format("{} and {} more in one group", function, others));
      AddCollectiveFields(source);
      return;
    }
    const auto collective = CollectiveOf(launch);
    if (!collective) return;
    const std::uint32_t source = model_.lane(*collective).source(collective->event);
    Add("issued by", std::string(rank_.string(rank_.collectives.function[source])));
    AddCollectiveFields(source);
  }

  void AddOperation(const GpuOps& ops) {
    const std::uint32_t op = source_;
    if (ops.kind[op] == OpKind::kKernel) {
      Add("kernel", std::string(rank_.string(rank_.shapes[ops.detail[op]].name)));
      Add("class", std::string(KernelClassTitle(ops.kernel_class[op])));
    } else {
      Add("operation", ops.kind[op] == OpKind::kMemcpy ? "copy" : "memset");
    }
    AddTimes(ops.end[op]);
    AddWait(ops, op);
    if (ops.kind[op] == OpKind::kKernel) {
      AddShape(rank_.shapes[ops.detail[op]]);
      AddProduct(ops, op);
    } else {
      AddTransfer(rank_.transfers[ops.detail[op]], ops.kind[op]);
    }
    const Stream& stream = rank_.streams[ops.stream[op]];
    Add("stream",
        fmt::format("{} of context {}, GPU {}", stream.stream_id, stream.context, stream.device));
    if (ops.graph_node[op] != kNone) {
      const GraphNode& node = rank_.graph_nodes[ops.graph_node[op]];
      Add("CUDA graph", fmt::format("{}, node {}", node.graph_id, node.node_id));
    }
    if (ops.correlation[op] != 0) Add("correlation", fmt::format("{}", ops.correlation[op]));
    AddLaunch(ops.launch[op]);
    if (ops.launch[op] != kNone && ops.kernel_class[op] == KernelClass::kComm) {
      AddCollectiveOfLaunch(ops.launch[op]);
    }
  }

  // Of a collective: until the last rank had come, and from then on.
  void AddWait(const GpuOps& ops, std::uint32_t op) {
    const std::optional<TimeNs> transfer =
        model_.waits.TransferStart(row_.rank, row_.device, ops.start[op]);
    if (!transfer) return;
    Add("waited for other ranks", FormatTime(*transfer - ops.start[op]));
    Add("transfer", FormatTime(std::max<TimeNs>(ops.end[op] - *transfer, 0)));
  }

  void AddShape(const KernelShape& shape) {
    Add("grid", Dimensions(shape.grid));
    Add("block", Dimensions(shape.block));
    if (shape.cluster[0] > 0) Add("cluster", Dimensions(shape.cluster));
    Add("registers", fmt::format("{} per thread", shape.registers));
    Add("shared memory",
        fmt::format("{} static, {} dynamic", FormatBytes(shape.static_shared_bytes),
                    FormatBytes(shape.dynamic_shared_bytes)));
    if (shape.local_bytes > 0) Add("local memory", FormatBytes(shape.local_bytes) + " per thread");
  }

  // The recorded GEMM call around the launch; kNone: there is none. Calls come by their start, and
  // other threads' lie between those of one.
  std::uint32_t ProductOf(std::uint32_t launch) const {
    const Gemms& gemms = rank_.gemms;
    const TimeNs time = rank_.api.start[launch];
    const auto after = std::upper_bound(gemms.start.begin(), gemms.start.end(), time);
    constexpr int kOtherThreads = 256;
    auto row = static_cast<std::uint32_t>(after - gemms.start.begin());
    for (int tries = 0; row-- > 0 && tries < kOtherThreads; ++tries) {
      if (gemms.thread[row] == rank_.api.thread[launch]) return gemms.end[row] > time ? row : kNone;
    }
    return kNone;
  }

  // What a kernel had to multiply, and how fast it was.
  void AddProduct(const GpuOps& ops, std::uint32_t op) {
    if (ops.kernel_class[op] != KernelClass::kGemm || ops.launch[op] == kNone) return;
    const std::uint32_t row = ProductOf(ops.launch[op]);
    if (row == kNone) return;
    const GemmShape& shape = rank_.gemm_shapes[rank_.gemms.shape[row]];
    Add("m x n x k", fmt::format("{} x {} x {}{}", shape.m, shape.n, shape.k,
                                 shape.batch > 1 ? fmt::format(", {} of them", shape.batch) : ""));
    Add("types", MatrixTypes(shape));
    if (const TimeNs length = ops.end[op] - ops.start[op]; length > 0)
      Add("rate",
          fmt::format("{:.1f} TFLOP/s", FlopsOf(shape) / static_cast<double>(length) / 1000));
  }

  void AddTransfer(const Transfer& transfer, OpKind kind) {
    Add("bytes", FormatBytes(transfer.bytes));
    Add("rate", FormatRate(transfer.bytes, end_ - start_));
    if (kind != OpKind::kMemcpy) return;
    Add("direction", std::string(CopyDirectionName(transfer.kind)));
    Add("memory", fmt::format("{} to {}, {}", MemoryKindName(transfer.src_kind),
                              MemoryKindName(transfer.dst_kind),
                              transfer.async ? "asynchronous" : "synchronous"));
    if (transfer.src_device >= 0) {
      Add("devices", fmt::format("GPU {} to GPU {}", transfer.src_device, transfer.dst_device));
    }
  }

  void AddLaunch(std::uint32_t call) {
    if (call == kNone) {
      Add("launched by", "not recorded");
      return;
    }
    const ApiCalls& calls = rank_.api;
    Add("launched by", rank_.api_names[calls.name[call]].name);
    AddThread(calls.thread[call]);
    Add("launch began", FormatMoment(model_, calls.start[call]));
    if (calls.end[call] != kOpen) {
      Add("launch took", FormatTime(calls.end[call] - calls.start[call]));
    }
    Add("launch to start", FormatDelay(start_ - calls.start[call]));
    AddStack(calls.thread[call], calls.start[call]);
  }

  void AddCall() {
    const ApiCalls& calls = rank_.api;
    const ApiName& name = rank_.api_names[calls.name[source_]];
    Add("call", name.name);
    AddTimes(calls.end[source_]);
    AddThread(calls.thread[source_]);
    const std::int32_t result = calls.result[source_];
    Add("result",
        result == 0 ? "success"
                    : fmt::format("error {} ({})", result,
                                  name.domain == ApiDomain::kRuntime ? "cudaError_t" : "CUresult"));
    Add("correlation", fmt::format("{}", calls.correlation[source_]));
    AddMemory(calls.correlation[source_]);
    AddStack(calls.thread[source_], calls.start[source_]);
    AddLaunched();
  }

  // What the call took or gave back. O(memory operations).
  void AddMemory(std::uint64_t correlation) {
    const MemoryOperations& memory = rank_.memory;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (memory.correlation[i] != correlation) continue;
      Add(memory.release[i] ? "released" : "allocated",
          fmt::format("{} of {} memory at {:#x}", FormatBytes(memory.bytes[i]),
                      MemoryKindName(memory.memory_kind[i]), memory.address[i]));
    }
  }

  // One operation for a kernel, many for a graph.
  void AddLaunched() {
    if (linked_.effects.empty()) return;
    const EventRef& first = linked_.effects.front();
    const std::size_t count = linked_.effects.size() + linked_.effects_left_out;
    Add("launched", count == 1 ? std::string(EventLabel(run_, model_, first))
                               : FormatCount(static_cast<std::int64_t>(count)) + " operations");
    Add("launch to start", FormatDelay(model_.lane(first).start(first.event) - start_));
  }

  void AddRange() {
    const NvtxRanges& nvtx = rank_.nvtx;
    const bool has_text = nvtx.text[source_] != kNone;
    Add("range", has_text ? std::string(rank_.string(nvtx.text[source_])) : "without text");
    AddTimes(nvtx.end[source_]);
    AddThread(nvtx.thread[source_]);
    const std::string& domain = rank_.nvtx_domains[nvtx.domain[source_]];
    Add("domain", domain.empty() ? "default" : domain);
    constexpr std::string_view kKinds[] = {"push and pop", "start and end", "mark"};
    Add("kind", std::string(kKinds[static_cast<std::size_t>(nvtx.kind[source_]) - 1]));
    if (nvtx.category[source_] != kNone) Add("category", fmt::format("{}", nvtx.category[source_]));
    AddStack(nvtx.thread[source_], nvtx.start[source_]);
  }

  void AddOperator() {
    const ProfiledRanges& all = rank_.profiled;
    Add("operator", std::string(rank_.string(all.name[source_])));
    AddTimes(all.end[source_]);
    AddThread(all.thread[source_]);
    if (all.input_shapes[source_] != kNone)
      Add("input shapes", std::string(rank_.string(all.input_shapes[source_])));
    if (all.sequence[source_] >= 0)
      Add("autograd", fmt::format("{}, sequence number {}",
                                  all.forward_thread[source_] > 0 ? "backward" : "forward",
                                  all.sequence[source_]));
    AddStack(all.thread[source_], all.start[source_]);
  }

  void AddCollective() {
    const Collectives& all = rank_.collectives;
    Add("operation", std::string(rank_.string(all.function[source_])));
    AddTimes(all.end[source_]);
    AddThread(all.thread[source_]);
    AddCollectiveFields(source_);
    AddStack(all.thread[source_], all.start[source_]);
  }

  void AddCollectiveFields(std::uint32_t call) {
    const Collectives& all = rank_.collectives;
    Add("bytes", FormatBytes(all.bytes[call]));
    AddPlan(all.plan.empty() ? kNone : all.plan[call]);
    if (all.reduction[call] >= 0) {
      Add("reduction", std::string(ReductionName(all.reduction[call])));
    }
    if (all.peer[call] >= 0) Add("peer", fmt::format("rank {}", all.peer[call]));
    if (all.root[call] >= 0) Add("root", fmt::format("rank {}", all.root[call]));
    if (all.communicator[call] == kNone) {
      Add("communicator", "unknown");
      return;
    }
    const Communicator& group = rank_.communicators[all.communicator[call]];
    Add("communicator", fmt::format("{:#x}", group.hash));
    Add("ranks", group.size ? fmt::format("{}", *group.size) : "unknown");
    if (group.rank) Add("own rank", fmt::format("{}", *group.rank));
    if (group.nodes) Add("hosts", fmt::format("{}", *group.nodes));
    if (!group.name.empty()) Add("named", group.name);
  }

  // How NCCL carried the operation out.
  void AddPlan(std::uint32_t plan) {
    if (plan == kNone) return;
    const CollectivePlans& plans = rank_.plans;
    const auto word = [&](const char* what, std::uint32_t text) {
      if (text != kNone) Add(what, std::string(rank_.string(text)));
    };
    word("datatype", plans.datatype[plan]);
    word("algorithm", plans.algorithm[plan]);
    word("protocol", plans.protocol[plan]);
    if (plans.channels[plan] >= 0) Add("channels", fmt::format("{}", plans.channels[plan]));
    if (plans.sequence[plan] >= 0) Add("sequence", fmt::format("{}", plans.sequence[plan]));
  }

  void AddStep() {
    Add("step", row_.names[source_]);
    AddTimes(end_);
    if (ink_ == Ink::kStepUnusual) Add("length", "far from the median, or warm-up");
  }

  void AddIdle() {
    Add("idle", std::string(IdleCauseText(CauseOf(ink_))));
    AddTimes(end_);
    if (source_ == kNone) {
      Add("ended by", "nothing recorded");
      return;
    }
    const GpuOps& ops = rank_.devices[row_.device].ops;
    Add("ended by", std::string(OpLabel(rank_, model_.kernel_labels[row_.rank], ops, source_)));
    start_ = ops.start[source_];
    AddLaunch(ops.launch[source_]);
  }

  void AddCode() {
    const std::uint32_t place = PlaceOf(run_, model_, ref_);
    Add("code", model_.place_labels[row_.rank][place]);
    AddTimes(end_);
    Add("file", FileAndLine(rank_, place));
    Add("belongs to", IsLibraryPlace(rank_, rank_.places[place]) ? "a library" : "the program");
    AddThread(row_.thread);
    Add("seen", LooksText(model_, row_, place));
    if (row_.kind != RowKind::kFrames) return;
    std::string callers;
    for (std::uint32_t at = rank_.stacks[source_].caller; at != kNone; at = rank_.stacks[at].caller)
      callers += fmt::format("{}{}", callers.empty() ? "" : " < ",
                             model_.place_labels[row_.rank][rank_.stacks[at].place]);
    if (!callers.empty()) Add("called by", callers);
  }

  void AddDataWait() {
    const DataWaits& waits = rank_.data_waits;
    Add("wait", "for the data loader");
    AddTimes(waits.end[source_]);
    AddThread(waits.thread[source_]);
    if (waits.batch[source_] >= 0) Add("batch", fmt::format("{}", waits.batch[source_]));
    if (waits.samples[source_] >= 0) Add("samples", fmt::format("{}", waits.samples[source_]));
    if (waits.loader[source_] == kNone) return;
    const DataLoader& loader = rank_.loaders[waits.loader[source_]];
    Add("workers", fmt::format("{}", loader.workers));
    if (loader.batch_size) Add("batch size", fmt::format("{}", *loader.batch_size));
    Add("pinned memory", loader.pin_memory ? "yes" : "no");
  }

  void AddHostSpan() {
    const HostSpans& spans = rank_.host_spans;
    Add("pause", std::string(HostSpanText(spans.kind[source_])));
    AddTimes(spans.end[source_]);
    AddThread(spans.thread[source_]);
    if (spans.kind[source_] == HostSpanKind::kGarbageCollection && spans.detail[source_] >= 0)
      Add("generation", fmt::format("{}", spans.detail[source_]));
  }

  const Run& run_;
  const RowModel& model_;
  const EventRef ref_;
  const LinkedEvents& linked_;
  Ink ink_;
  const Row& row_;
  const Rank& rank_;
  std::uint32_t source_;
  TimeNs start_ = 0, end_ = 0;
  std::vector<Detail> lines_;
};

}  // namespace

// From CUpti_ActivityMemcpyKind, cupti_activity.h.
std::string_view CopyDirectionName(std::uint8_t kind) {
  constexpr std::string_view kNames[] = {"unknown",         "host to device",  "device to host",
                                         "host to array",   "array to host",   "array to array",
                                         "array to device", "device to array", "device to device",
                                         "host to host",    "peer to peer"};
  static_assert(std::size(kNames) == kCopyDirections);
  return kind < std::size(kNames) ? kNames[kind] : kNames[0];
}

std::string FormatMoment(const RowModel& model, TimeNs time_ns) {
  constexpr TimeNs kSecond = 1'000'000'000;
  const TimeNs relative = time_ns - model.origin;
  const auto magnitude = static_cast<std::uint64_t>(std::llabs(relative));
  return fmt::format("{}{}.{:09} s", relative < 0 ? "-" : "", magnitude / kSecond,
                     magnitude % kSecond);
}

std::string_view EventLabel(const Run& run, const RowModel& model, const EventRef& ref) {
  const Row& row = model.rows[ref.row];
  const Rank& rank = run.ranks[row.rank];
  const std::uint32_t source = model.lane(ref).source(ref.event);
  switch (row.kind) {
    case RowKind::kDevice:
    case RowKind::kStream:
      return OpLabel(rank, model.kernel_labels[row.rank], rank.devices[row.device].ops, source);
    case RowKind::kCalls:
      return rank.api_names[rank.api.name[source]].name;
    case RowKind::kNvtx:
      return rank.string(rank.nvtx.text[source]);
    case RowKind::kCode:
    case RowKind::kFrames:
      return model.place_labels[row.rank][PlaceOf(run, model, ref)];
    case RowKind::kOperators:
      return rank.string(rank.profiled.name[source]);
    case RowKind::kCollectives:
      return rank.string(rank.collectives.function[source]);
    case RowKind::kSteps:
      return row.names[source];
    case RowKind::kIdle:
      return IdleCauseName(CauseOf(model.lane(ref).ink(ref.event)));
    case RowKind::kDataWaits:
      return "data wait";
    case RowKind::kHostSpans:
      return HostSpanText(rank.host_spans.kind[source]);
    case RowKind::kRank:
    case RowKind::kHost:
    case RowKind::kQueueDepth:
    case RowKind::kSampleHeading:
    case RowKind::kSamples:
    case RowKind::kQuiet:
      break;
  }
  return "";
}

std::pair<TimeNs, TimeNs> EventTimes(const Run& run, const RowModel& model, const EventRef& ref) {
  const Row& row = model.rows[ref.row];
  const Lane& lane = model.lane(ref);
  if (row.kind != RowKind::kDevice) return {lane.start(ref.event), lane.end(ref.event)};
  const GpuOps& ops = run.ranks[row.rank].devices[row.device].ops;
  const std::uint32_t op = lane.source(ref.event);
  return {ops.start[op], ops.end[op] == kOpen ? lane.end(ref.event) : ops.end[op]};
}

std::vector<Detail> EventDetails(const Run& run, const RowModel& model, const EventRef& ref,
                                 const LinkedEvents& linked) {
  return Details(run, model, ref, linked).All(EventTimes(run, model, ref));
}

}  // namespace traceinject
