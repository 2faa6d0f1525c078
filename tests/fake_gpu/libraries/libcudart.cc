// SPDX-License-Identifier: Apache-2.0
// libcudart.so.{12,13}: the runtime API functions that the player uses, with the signatures of
// cuda_runtime_api.h. Each starts the driver when needed, makes device 0 current like the real
// runtime, and does its work by a driver call nested in it.
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>

#include <algorithm>

#include "tests/fake_gpu/simulator/api_call.h"
#include "tests/fake_gpu/simulator/driver.h"
#include "tests/fake_gpu/simulator/settings.h"
#include "tests/fake_gpu/simulator/simulator.h"

#define EXPORT extern "C" __attribute__((visibility("default")))
#define RUNTIME_CALL(variable, function, version)                                                 \
  fake::ApiCall variable(fake::Domain::kRuntime, CUPTI_RUNTIME_TRACE_CBID_##function##_##version, \
                         #function)

namespace {

namespace fake = traceinject::fake;

thread_local int current_device = 0;

cudaError_t Code(int result) { return static_cast<cudaError_t>(result); }

// Starts the driver. Its library is loaded by the first call that needs it, as the real runtime
// does it.
int Start() {
  [[maybe_unused]] static void* const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  return fake::Initialize();
}

// The context that runtime calls of this thread work in; null when CUDA does not work in this
// process.
fake::Context* Prepare() {
  if (Start() != fake::kSuccess) return nullptr;
  fake::Context* context = fake::CurrentContext();
  if (context == nullptr || context->device != static_cast<std::uint32_t>(current_device)) {
    context = fake::PrimaryContext(current_device);
    fake::SetCurrentContext(context);
  }
  return context;
}

fake::driver::LaunchShape ShapeOf(dim3 grid, dim3 block, std::size_t shared_bytes) {
  fake::driver::LaunchShape shape;
  const unsigned grids[] = {grid.x, grid.y, grid.z}, blocks[] = {block.x, block.y, block.z};
  std::copy_n(grids, 3, shape.grid);
  std::copy_n(blocks, 3, shape.block);
  shape.dynamic_shared_bytes = static_cast<int>(shared_bytes);
  return shape;
}

fake::Event* EventOf(cudaEvent_t event) { return reinterpret_cast<fake::Event*>(event); }

cudaError_t NewStream(cudaStream_t* stream, const fake::StreamSettings& settings) {
  fake::Context* context = Prepare();
  if (context == nullptr) return cudaErrorInitializationError;
  *stream = reinterpret_cast<cudaStream_t>(fake::CreateStream(context, settings));
  return cudaSuccess;
}

cudaError_t NewEvent(cudaEvent_t* event) {
  if (Prepare() == nullptr) return cudaErrorInitializationError;
  *event = reinterpret_cast<cudaEvent_t>(fake::CreateEvent());
  return cudaSuccess;
}

}  // namespace

EXPORT cudaError_t cudaRuntimeGetVersion(int* version) {
  const fake::ApiCall call(fake::Domain::kRuntime,
                           CUPTI_RUNTIME_TRACE_CBID_cudaRuntimeGetVersion_v3020,
                           "cudaRuntimeGetVersion");
  *version = FAKE_CUDA_VERSION;
  return cudaSuccess;
}

EXPORT cudaError_t cudaDriverGetVersion(int* version) {
  *version = static_cast<int>(fake::SettingNumber("FAKE_GPU_DRIVER_VERSION", FAKE_CUDA_VERSION));
  return cudaSuccess;
}

EXPORT cudaError_t cudaGetDeviceCount(int* count) {
  if (Start() != fake::kSuccess) return cudaErrorInitializationError;
  *count = fake::DeviceCount();
  return cudaSuccess;
}

EXPORT cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= fake::DeviceCount()) return cudaErrorInvalidDevice;
  current_device = device;
  return Prepare() != nullptr ? cudaSuccess : cudaErrorInitializationError;
}

EXPORT cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}

EXPORT cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  RUNTIME_CALL(call, cudaStreamCreate, v3020);
  return Code(call.Return(NewStream(stream, {})));
}

EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  RUNTIME_CALL(call, cudaStreamCreateWithFlags, v5000);
  return Code(call.Return(NewStream(stream, {0, flags == cudaStreamNonBlocking})));
}

EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags,
                                                int priority) {
  RUNTIME_CALL(call, cudaStreamCreateWithPriority, v5050);
  return Code(call.Return(NewStream(stream, {priority, flags == cudaStreamNonBlocking})));
}

EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  RUNTIME_CALL(call, cudaStreamDestroy, v5050);
  // The object stays: its operations may still run, and its id is never used again.
  return Code(call.Return(stream != nullptr ? fake::kSuccess : fake::kInvalidHandle));
}

EXPORT cudaError_t cudaEventCreate(cudaEvent_t* event) {
  RUNTIME_CALL(call, cudaEventCreate, v3020);
  return Code(call.Return(NewEvent(event)));
}

EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) {
  RUNTIME_CALL(call, cudaEventCreateWithFlags, v3020);
  return Code(call.Return(NewEvent(event)));
}

EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event) {
  RUNTIME_CALL(call, cudaEventDestroy, v3020);
  delete EventOf(event);
  return cudaSuccess;
}

EXPORT cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  RUNTIME_CALL(call, cudaEventRecord, v3020);
  Prepare();
  return Code(call.Return(fake::driver::RecordEvent(EventOf(event), fake::ResolveStream(stream))));
}

EXPORT cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int) {
  RUNTIME_CALL(call, cudaEventRecordWithFlags, v11010);
  Prepare();
  return Code(call.Return(fake::driver::RecordEvent(EventOf(event), fake::ResolveStream(stream))));
}

EXPORT cudaError_t cudaEventQuery(cudaEvent_t event) {
  RUNTIME_CALL(call, cudaEventQuery, v3020);
  return Code(call.Return(fake::driver::EventQuery(EventOf(event))));
}

EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  RUNTIME_CALL(call, cudaStreamWaitEvent, v3020);
  Prepare();
  return Code(
      call.Return(fake::driver::StreamWaitEvent(fake::ResolveStream(stream), EventOf(event))));
}

EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  RUNTIME_CALL(call, cudaEventSynchronize, v3020);
  return Code(call.Return(fake::driver::EventSynchronize(EventOf(event))));
}

EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  RUNTIME_CALL(call, cudaStreamSynchronize, v3020);
  Prepare();
  return Code(call.Return(fake::driver::StreamSynchronize(fake::ResolveStream(stream))));
}

EXPORT cudaError_t cudaDeviceSynchronize() {
  RUNTIME_CALL(call, cudaDeviceSynchronize, v3020);
  return Code(call.Return(fake::driver::ContextSynchronize(Prepare())));
}

EXPORT cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  RUNTIME_CALL(call, cudaMalloc, v3020);
  return Code(call.Return(fake::driver::MemoryAllocate(address, bytes, Prepare())));
}

EXPORT cudaError_t cudaFree(void* address) {
  RUNTIME_CALL(call, cudaFree, v3020);
  Prepare();
  return Code(call.Return(fake::driver::MemoryFree(address)));
}

EXPORT cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned int) {
  RUNTIME_CALL(call, cudaHostAlloc, v3020);
  const fake::Context* context = Prepare();
  if (context == nullptr) return Code(call.Return(fake::kNotInitialized));
  *address = fake::Allocate(bytes, CUPTI_ACTIVITY_MEMORY_KIND_PINNED, *context);
  return cudaSuccess;
}

EXPORT cudaError_t cudaMallocAsync(void** address, std::size_t bytes, cudaStream_t stream) {
  RUNTIME_CALL(call, cudaMallocAsync, v11020);
  const fake::Context* context = Prepare();
  if (context == nullptr) return Code(call.Return(fake::kNotInitialized));
  *address = fake::Allocate(bytes, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, *context,
                            fake::ResolveStream(stream));
  return cudaSuccess;
}

EXPORT cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  RUNTIME_CALL(call, cudaFreeAsync, v11020);
  return Code(call.Return(fake::Free(address, fake::ResolveStream(stream)) ? fake::kSuccess
                                                                           : fake::kInvalidValue));
}

EXPORT cudaError_t cudaFreeHost(void* address) {
  RUNTIME_CALL(call, cudaFreeHost, v3020);
  return Code(call.Return(fake::Free(address) ? fake::kSuccess : fake::kInvalidValue));
}

EXPORT cudaError_t cudaMemcpyAsync(void* destination, const void* source, std::size_t bytes,
                                   cudaMemcpyKind, cudaStream_t stream) {
  RUNTIME_CALL(call, cudaMemcpyAsync, v3020);
  Prepare();
  return Code(call.Return(
      fake::driver::Copy(destination, source, bytes, fake::ResolveStream(stream), true)));
}

EXPORT cudaError_t cudaMemcpy(void* destination, const void* source, std::size_t bytes,
                              cudaMemcpyKind) {
  RUNTIME_CALL(call, cudaMemcpy, v3020);
  Prepare();
  return Code(call.Return(
      fake::driver::Copy(destination, source, bytes, fake::ResolveStream(nullptr), false)));
}

EXPORT cudaError_t cudaMemcpyPeerAsync(void*, int destination_device, const void*,
                                       int source_device, std::size_t bytes, cudaStream_t stream) {
  RUNTIME_CALL(call, cudaMemcpyPeerAsync, v4000);
  Prepare();
  return Code(call.Return(fake::driver::CopyPeer(static_cast<std::uint32_t>(destination_device),
                                                 static_cast<std::uint32_t>(source_device), bytes,
                                                 fake::ResolveStream(stream))));
}

EXPORT cudaError_t cudaMemsetAsync(void* destination, int value, std::size_t bytes,
                                   cudaStream_t stream) {
  RUNTIME_CALL(call, cudaMemsetAsync, v3020);
  Prepare();
  return Code(call.Return(fake::driver::Memset8(destination, static_cast<std::uint8_t>(value),
                                                bytes, fake::ResolveStream(stream))));
}

EXPORT cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void**,
                                    std::size_t shared_bytes, cudaStream_t stream) {
  RUNTIME_CALL(call, cudaLaunchKernel, v7000);
  Prepare();
  return Code(call.Return(fake::driver::LaunchKernel(static_cast<const fake::KernelCode*>(function),
                                                     ShapeOf(grid, block, shared_bytes),
                                                     fake::ResolveStream(stream))));
}

// What programs built by nvcc 13 import (crt/device_functions.h).
EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void**,
                                      std::size_t shared_bytes, cudaStream_t stream) {
  RUNTIME_CALL(call, __cudaLaunchKernel, v13000);
  Prepare();
  return Code(call.Return(
      fake::driver::LaunchKernel(reinterpret_cast<const fake::KernelCode*>(kernel),
                                 ShapeOf(grid, block, shared_bytes), fake::ResolveStream(stream))));
}

EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  RUNTIME_CALL(call, cudaGraphLaunch, v10000);
  Prepare();
  return Code(call.Return(fake::driver::LaunchGraph(reinterpret_cast<const fake::GraphCode*>(graph),
                                                    fake::ResolveStream(stream))));
}
