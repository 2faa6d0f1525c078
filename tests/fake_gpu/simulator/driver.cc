// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/simulator/driver.h"

#include <cupti.h>
#include <unistd.h>

#include <algorithm>

#include "tests/fake_gpu/simulator/api_call.h"
#include "tests/fake_gpu/simulator/clock.h"
#include "tests/fake_gpu/simulator/settings.h"
#include "tests/fake_gpu/simulator/truth.h"

#define DRIVER_CALL(variable, function) \
  ApiCall variable(Domain::kDriver, CUPTI_DRIVER_TRACE_CBID_##function, #function)

namespace traceinject::fake::driver {
namespace {

// Values of sync.kind in the database.
enum class SyncKind {
  kEventRecord = 1,
  kStreamWaitsEvent = 2,
  kHostWaitsEvent = 3,
  kHostWaitsStream = 4
};

void WriteSyncTruth(SyncKind kind, const ApiCall& call, const Event* event, const Stream* stream) {
  if (!TruthWanted()) return;
  TruthLine line("sync");
  line.Number("kind", static_cast<int>(kind))
      .Number("start", call.start_ns())
      .Number("end", NowNs())
      .Number("tid", gettid());
  if (event != nullptr) line.Number("event", event->number);
  if (stream != nullptr) {
    line.Number("device", stream->device)
        .Number("context", stream->context)
        .Number("stream", stream->id);
  }
  line.Write();
}

void TellSynchronization(SynchronizationType type, const ApiCall& call, const Event* event,
                         const Stream* stream, std::uint32_t context) {
  ActivitySink* sink = GetActivitySink();
  if (sink == nullptr) return;
  sink->OnSynchronization({type, call.start_ns(), NowNs(), call.correlation(), context,
                           stream != nullptr ? stream->id : ~0u,
                           event != nullptr ? event->number : ~0u});
}

// How long the driver takes to allocate or to free; nothing unless it is asked for.
void TakeAllocationTime() {
  static const std::int64_t allocation_ns = SettingNumber("FAKE_GPU_ALLOC_US", 0) * 1'000;
  if (allocation_ns > 0) SleepUntil(NowNs() + allocation_ns);
}

bool IsKernel(const KernelCode* kernel) {
  return kernel != nullptr && kernel->magic == KernelCode::kMagic;
}

Operation KernelOperation(const KernelCode& kernel, const LaunchShape& shape) {
  Operation operation;
  operation.kind = OperationKind::kKernel;
  operation.name = kernel.name;
  std::copy_n(shape.grid, 3, operation.grid);
  std::copy_n(shape.block, 3, operation.block);
  std::copy_n(shape.cluster, 3, operation.cluster);
  operation.registers = kernel.registers;
  operation.static_shared_bytes = kernel.static_shared_bytes;
  operation.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  operation.local_bytes = kernel.local_bytes;
  return operation;
}

int SubmitKernel(const KernelCode* kernel, const LaunchShape& shape, Stream* stream) {
  if (RequireInitialized() != kSuccess) return kNotInitialized;
  if (!IsKernel(kernel)) return kInvalidFunction;
  if (stream == nullptr) return kInvalidContext;
  Submit(stream, KernelOperation(*kernel, shape), kernel->duration_ns);
  return kSuccess;
}

struct CopyFunction {
  std::uint32_t cbid;
  const char* name;
  std::uint8_t copy_kind;
};

bool OnDevice(std::uint8_t memory_kind) { return memory_kind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE; }

CopyFunction ChooseCopy(const Memory& source, const Memory& destination) {
  if (OnDevice(source.kind) && OnDevice(destination.kind)) {
    return {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2, "cuMemcpyDtoDAsync",
            CUPTI_ACTIVITY_MEMCPY_KIND_DTOD};
  }
  if (OnDevice(source.kind)) {
    return {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, "cuMemcpyDtoHAsync",
            CUPTI_ACTIVITY_MEMCPY_KIND_DTOH};
  }
  if (OnDevice(destination.kind)) {
    return {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync",
            CUPTI_ACTIVITY_MEMCPY_KIND_HTOD};
  }
  return {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, "cuMemcpyAsync", CUPTI_ACTIVITY_MEMCPY_KIND_HTOH};
}

int SubmitMemset(const void* destination, std::uint32_t value, std::size_t bytes, Stream* stream) {
  if (RequireInitialized() != kSuccess) return kNotInitialized;
  if (stream == nullptr) return kInvalidContext;
  Operation operation;
  operation.kind = OperationKind::kMemset;
  operation.bytes = static_cast<std::int64_t>(bytes);
  operation.value = value;
  operation.dst_kind = MemoryAt(destination).kind;
  operation.async = true;
  Submit(stream, operation, 1'200 + operation.bytes / 1'000);
  return kSuccess;
}

}  // namespace

int LaunchKernel(const KernelCode* kernel, const LaunchShape& shape, Stream* stream) {
  DRIVER_CALL(call, cuLaunchKernel);
  return call.Return(SubmitKernel(kernel, shape, stream));
}

int LaunchKernelEx(const KernelCode* kernel, const LaunchShape& shape, Stream* stream) {
  DRIVER_CALL(call, cuLaunchKernelEx);
  return call.Return(SubmitKernel(kernel, shape, stream));
}

int LaunchGraph(const GraphCode* graph, Stream* stream) {
  DRIVER_CALL(call, cuGraphLaunch);
  if (RequireInitialized() != kSuccess) return call.Return(kNotInitialized);
  if (graph == nullptr || graph->magic != GraphCode::kMagic) return call.Return(kInvalidHandle);
  if (stream == nullptr) return call.Return(kInvalidContext);
  for (const GraphNode& node : graph->nodes) {
    LaunchShape shape;
    std::copy_n(node.grid, 3, shape.grid);
    std::copy_n(node.block, 3, shape.block);
    Operation operation = KernelOperation(*node.kernel, shape);
    operation.graph_id = graph->id;
    operation.graph_node = node.node_id;
    Submit(stream, operation, node.kernel->duration_ns);
  }
  return call.Return(kSuccess);
}

int Copy(const void* destination, const void* source, std::size_t bytes, Stream* stream,
         bool async) {
  const Memory from = MemoryAt(source), to = MemoryAt(destination);
  const CopyFunction function = ChooseCopy(from, to);
  ApiCall call(Domain::kDriver, function.cbid, function.name);
  if (RequireInitialized() != kSuccess) return call.Return(kNotInitialized);
  if (stream == nullptr) return call.Return(kInvalidContext);
  Operation operation;
  operation.kind = OperationKind::kMemcpy;
  operation.bytes = static_cast<std::int64_t>(bytes);
  operation.copy_kind = function.copy_kind;
  operation.src_kind = from.kind;
  operation.dst_kind = to.kind;
  operation.async = async;
  const std::int64_t end_ns =
      Submit(stream, operation, CopyDuration(operation.bytes, from.kind, to.kind));
  if (!async) SleepUntil(end_ns);
  return call.Return(kSuccess);
}

int CopyPeer(std::uint32_t destination_device, std::uint32_t source_device, std::size_t bytes,
             Stream* stream) {
  DRIVER_CALL(call, cuMemcpyPeerAsync);
  if (RequireInitialized() != kSuccess) return call.Return(kNotInitialized);
  if (stream == nullptr) return call.Return(kInvalidContext);
  Operation operation;
  operation.kind = OperationKind::kPeerMemcpy;
  operation.bytes = static_cast<std::int64_t>(bytes);
  operation.copy_kind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  operation.src_kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  operation.dst_kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  operation.async = true;
  operation.src_device = source_device;
  operation.dst_device = destination_device;
  Submit(stream, operation, 2'000 + operation.bytes / 200);
  return call.Return(kSuccess);
}

int Memset8(const void* destination, std::uint8_t value, std::size_t bytes, Stream* stream) {
  DRIVER_CALL(call, cuMemsetD8Async);
  return call.Return(SubmitMemset(destination, value, bytes, stream));
}

int Memset32(const void* destination, std::uint32_t value, std::size_t words, Stream* stream) {
  DRIVER_CALL(call, cuMemsetD32Async);
  return call.Return(SubmitMemset(destination, value, words * 4, stream));
}

int RecordEvent(Event* event, Stream* stream) {
  DRIVER_CALL(call, cuEventRecord);
  if (RequireInitialized() != kSuccess) return call.Return(kNotInitialized);
  if (event == nullptr || stream == nullptr) return call.Return(kInvalidHandle);
  fake::RecordEvent(event, stream);
  WriteSyncTruth(SyncKind::kEventRecord, call, event, stream);
  return call.Return(kSuccess);
}

int StreamWaitEvent(Stream* stream, const Event* event) {
  DRIVER_CALL(call, cuStreamWaitEvent);
  if (RequireInitialized() != kSuccess) return call.Return(kNotInitialized);
  if (event == nullptr || stream == nullptr) return call.Return(kInvalidHandle);
  WaitForEvent(stream, event);
  TellSynchronization(SynchronizationType::kStreamWaitsEvent, call, event, stream, stream->context);
  WriteSyncTruth(SyncKind::kStreamWaitsEvent, call, event, stream);
  return call.Return(kSuccess);
}

int EventQuery(const Event* event) {
  DRIVER_CALL(call, cuEventQuery);
  if (RequireInitialized() != kSuccess) return call.Return(kNotInitialized);
  if (event == nullptr) return call.Return(kInvalidHandle);
  return call.Return(EventTime(event) <= NowNs() ? kSuccess : kNotReady);
}

int EventSynchronize(const Event* event) {
  DRIVER_CALL(call, cuEventSynchronize);
  if (RequireInitialized() != kSuccess) return call.Return(kNotInitialized);
  if (event == nullptr) return call.Return(kInvalidHandle);
  SleepUntil(EventTime(event));
  TellSynchronization(SynchronizationType::kEvent, call, event, nullptr, ~0u);
  WriteSyncTruth(SyncKind::kHostWaitsEvent, call, event, nullptr);
  return call.Return(kSuccess);
}

int StreamSynchronize(const Stream* stream) {
  DRIVER_CALL(call, cuStreamSynchronize);
  if (RequireInitialized() != kSuccess) return call.Return(kNotInitialized);
  if (stream == nullptr) return call.Return(kInvalidHandle);
  SleepUntil(StreamTail(stream));
  TellSynchronization(SynchronizationType::kStream, call, nullptr, stream, stream->context);
  WriteSyncTruth(SyncKind::kHostWaitsStream, call, nullptr, stream);
  return call.Return(kSuccess);
}

int ContextSynchronize(const Context* context) {
  DRIVER_CALL(call, cuCtxSynchronize);
  if (RequireInitialized() != kSuccess) return call.Return(kNotInitialized);
  if (context == nullptr) return call.Return(kInvalidContext);
  SleepUntil(ContextTail(context));
  TellSynchronization(SynchronizationType::kContext, call, nullptr, nullptr, context->id);
  return call.Return(kSuccess);
}

int MemoryAllocate(void** address, std::size_t bytes, Context* context) {
  DRIVER_CALL(call, cuMemAlloc_v2);
  if (RequireInitialized() != kSuccess) return call.Return(kNotInitialized);
  if (context == nullptr) return call.Return(kInvalidContext);
  if (address == nullptr || bytes == 0) return call.Return(kInvalidValue);
  TakeAllocationTime();
  *address = Allocate(bytes, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, *context);
  return call.Return(kSuccess);
}

int MemoryFree(void* address) {
  DRIVER_CALL(call, cuMemFree_v2);
  if (RequireInitialized() != kSuccess) return call.Return(kNotInitialized);
  TakeAllocationTime();
  return call.Return(address == nullptr || Free(address) ? kSuccess : kInvalidValue);
}

}  // namespace traceinject::fake::driver
