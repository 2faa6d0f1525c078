// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1: the driver API functions that programs, NCCL and the injected library use, with the
// signatures of cuda.h.
#include <cuda.h>
#include <cupti.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/fake_gpu/simulator/api_call.h"
#include "tests/fake_gpu/simulator/driver.h"
#include "tests/fake_gpu/simulator/settings.h"
#include "tests/fake_gpu/simulator/simulator.h"

// cuda.h maps the plain name to the newest version; both are exported.
#undef cuDeviceGetUuid

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

namespace fake = traceinject::fake;

CUresult Code(int result) { return static_cast<CUresult>(result); }

fake::Event* EventOf(CUevent event) { return reinterpret_cast<fake::Event*>(event); }
fake::Context* ContextOf(CUcontext context) { return reinterpret_cast<fake::Context*>(context); }
const fake::KernelCode* KernelOf(CUfunction function) {
  return reinterpret_cast<const fake::KernelCode*>(function);
}
const void* Host(CUdeviceptr address) { return reinterpret_cast<const void*>(address); }

bool IsDevice(CUdevice device) { return device >= 0 && device < fake::DeviceCount(); }

// Facts of an H100 SXM, for every device.
int AttributeValue(CUdevice_attribute attribute, CUdevice device) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return 132;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return 1'980'000;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 2'619'000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 5120;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return 50 << 20;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return 9;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return 0;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return 0x18 + device;
    default:
      return 0;
  }
}

CUresult FillUuid(CUuuid* uuid, CUdevice device) {
  if (fake::RequireInitialized() != fake::kSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  for (std::size_t i = 0; i < sizeof uuid->bytes; ++i)
    uuid->bytes[i] = static_cast<char>(fake::UuidByte(device, static_cast<int>(i)));
  return CUDA_SUCCESS;
}

fake::driver::LaunchShape ShapeOf(const CUlaunchConfig& config) {
  fake::driver::LaunchShape shape;
  const unsigned grid[] = {config.gridDimX, config.gridDimY, config.gridDimZ};
  const unsigned block[] = {config.blockDimX, config.blockDimY, config.blockDimZ};
  std::copy_n(grid, 3, shape.grid);
  std::copy_n(block, 3, shape.block);
  shape.dynamic_shared_bytes = static_cast<int>(config.sharedMemBytes);
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    const auto& cluster = config.attrs[i].value.clusterDim;
    const unsigned dimensions[] = {cluster.x, cluster.y, cluster.z};
    std::copy_n(dimensions, 3, shape.cluster);
  }
  return shape;
}

}  // namespace

EXPORT CUresult cuInit(unsigned int) { return Code(fake::Initialize()); }

EXPORT CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = static_cast<int>(fake::SettingNumber("FAKE_GPU_DRIVER_VERSION", FAKE_CUDA_VERSION));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetCount(int* count) {
  const fake::ApiCall call(fake::Domain::kDriver, CUPTI_DRIVER_TRACE_CBID_cuDeviceGetCount,
                           "cuDeviceGetCount");
  if (fake::RequireInitialized() != fake::kSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  *count = fake::DeviceCount();
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (fake::RequireInitialized() != fake::kSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  if (!IsDevice(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  if (fake::RequireInitialized() != fake::kSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(name, static_cast<std::size_t>(length), "%s", fake::DeviceName().c_str());
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (fake::RequireInitialized() != fake::kSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  *value = AttributeValue(attribute, device);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) { return FillUuid(uuid, device); }
EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) { return FillUuid(uuid, device); }

EXPORT CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  if (fake::RequireInitialized() != fake::kSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0",
                static_cast<unsigned>(0x18 + device));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  if (fake::RequireInitialized() != fake::kSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = std::size_t{85'520'809'984};
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (fake::RequireInitialized() != fake::kSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  fake::Context* primary = fake::PrimaryContext(device);
  if (primary == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *context = reinterpret_cast<CUcontext>(primary);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return IsDevice(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  if (fake::RequireInitialized() != fake::kSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  *flags = 0;
  *active = fake::PrimaryContextActive(device) ? 1 : 0;
  return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext* context) {
  if (fake::RequireInitialized() != fake::kSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  *context = reinterpret_cast<CUcontext>(fake::CurrentContext());
  return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  if (fake::RequireInitialized() != fake::kSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  fake::SetCurrentContext(ContextOf(context));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetDevice(CUdevice* device) {
  if (fake::RequireInitialized() != fake::kSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  if (fake::CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *device = static_cast<CUdevice>(fake::CurrentContext()->device);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  if (fake::RequireInitialized() != fake::kSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  if (fake::CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *stream = reinterpret_cast<CUstream>(
      fake::CreateStream(fake::CurrentContext(), {0, flags == CU_STREAM_NON_BLOCKING}));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  if (fake::RequireInitialized() != fake::kSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  const fake::Stream* resolved = fake::ResolveStream(stream);
  if (resolved == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *context = reinterpret_cast<CUcontext>(fake::PrimaryContext(static_cast<int>(resolved->device)));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuEventCreate(CUevent* event, unsigned int) {
  if (fake::RequireInitialized() != fake::kSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  *event = reinterpret_cast<CUevent>(fake::CreateEvent());
  return CUDA_SUCCESS;
}

EXPORT CUresult cuEventDestroy_v2(CUevent event) {
  delete EventOf(event);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
  return Code(fake::driver::RecordEvent(EventOf(event), fake::ResolveStream(stream)));
}

EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int) {
  return Code(fake::driver::StreamWaitEvent(fake::ResolveStream(stream), EventOf(event)));
}

EXPORT CUresult cuEventQuery(CUevent event) {
  return Code(fake::driver::EventQuery(EventOf(event)));
}

EXPORT CUresult cuEventSynchronize(CUevent event) {
  return Code(fake::driver::EventSynchronize(EventOf(event)));
}

EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  return Code(fake::driver::StreamSynchronize(fake::ResolveStream(stream)));
}

EXPORT CUresult cuCtxSynchronize() {
  return Code(fake::driver::ContextSynchronize(fake::CurrentContext()));
}

EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                               unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                               unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                               void**, void**) {
  const CUlaunchConfig config = {grid_x,  grid_y,       grid_z, block_x, block_y,
                                 block_z, shared_bytes, stream, nullptr, 0};
  return Code(
      fake::driver::LaunchKernel(KernelOf(function), ShapeOf(config), fake::ResolveStream(stream)));
}

EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void**,
                                 void**) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return Code(fake::driver::LaunchKernelEx(KernelOf(function), ShapeOf(*config),
                                           fake::ResolveStream(config->hStream)));
}

EXPORT CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  return Code(fake::driver::LaunchGraph(reinterpret_cast<const fake::GraphCode*>(graph),
                                        fake::ResolveStream(stream)));
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  void* allocated = nullptr;
  const int result = fake::driver::MemoryAllocate(&allocated, bytes, fake::CurrentContext());
  if (result == fake::kSuccess) *address = reinterpret_cast<CUdeviceptr>(allocated);
  return Code(result);
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  return Code(fake::driver::MemoryFree(reinterpret_cast<void*>(address)));
}

EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void* source, std::size_t bytes,
                                     CUstream stream) {
  return Code(
      fake::driver::Copy(Host(destination), source, bytes, fake::ResolveStream(stream), true));
}

EXPORT CUresult cuMemcpyDtoHAsync_v2(void* destination, CUdeviceptr source, std::size_t bytes,
                                     CUstream stream) {
  return Code(
      fake::driver::Copy(destination, Host(source), bytes, fake::ResolveStream(stream), true));
}

EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes,
                                     CUstream stream) {
  return Code(fake::driver::Copy(Host(destination), Host(source), bytes,
                                 fake::ResolveStream(stream), true));
}

EXPORT CUresult cuMemsetD8Async(CUdeviceptr destination, unsigned char value, std::size_t bytes,
                                CUstream stream) {
  return Code(fake::driver::Memset8(Host(destination), value, bytes, fake::ResolveStream(stream)));
}

EXPORT CUresult cuMemsetD32Async(CUdeviceptr destination, unsigned int value, std::size_t words,
                                 CUstream stream) {
  return Code(fake::driver::Memset32(Host(destination), value, words, fake::ResolveStream(stream)));
}

EXPORT CUresult cuGetErrorName(CUresult error, const char** text) {
  *text = error == CUDA_SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR_UNKNOWN";
  return CUDA_SUCCESS;
}
