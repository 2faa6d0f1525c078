// SPDX-License-Identifier: Apache-2.0
// The CUDA calls that are recorded. Enabling them one by one (CUPTI 12.5+) is free over the cost of
// kernel records; enabling the whole RUNTIME and DRIVER kinds costs 25-40 % on launch-bound
// programs. NCCL's and the allocator's event queries are polled thousands of times a second and are
// never recorded.
//
// Kernel launches are recorded in the driver, where all of them pass, whoever makes them: the
// runtime (cudaLaunchKernel, cudaLaunchKernelExC, and __cudaLaunchKernel of programs built by nvcc
// 13), NCCL, Triton and cuBLAS. Recording them in the runtime as well gives no further record,
// since CUPTI reports the outer call only, yet it makes every launch pass two hooks
// (tests/gpu/results/cost.md). Other calls are few, and are recorded under the name that the
// program used.
//
// Callback ids are those of cupti_runtime_cbid.h and cupti_driver_cbid.h and do not change between
// versions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace traceinject {

enum class CudaDomain : int { kRuntime = 1, kDriver = 2 };  // api_name.domain in run_db.sql

// api_name.class in run_db.sql
enum class CallClass : int {
  kLaunch = 1,
  kCopy,
  kMemset,
  kSynchronize,
  kEvent,
  kAllocate,
  kGraphLaunch,
  kOther
};

struct AllowedCall {
  CudaDomain domain;
  std::uint32_t cbid;
  std::string_view name;
  CallClass call_class;
};

inline constexpr AllowedCall kAllowList[] = {
    {CudaDomain::kRuntime, 20, "cudaMalloc", CallClass::kAllocate},
    {CudaDomain::kRuntime, 21, "cudaMallocPitch", CallClass::kAllocate},
    {CudaDomain::kRuntime, 25, "cudaMallocHost", CallClass::kAllocate},
    {CudaDomain::kRuntime, 206, "cudaMallocManaged", CallClass::kAllocate},
    {CudaDomain::kRuntime, 391, "cudaMallocFromPoolAsync", CallClass::kAllocate},
    {CudaDomain::kRuntime, 392, "cudaMallocFromPoolAsync", CallClass::kAllocate},
    {CudaDomain::kRuntime, 22, "cudaFree", CallClass::kAllocate},
    {CudaDomain::kRuntime, 26, "cudaFreeHost", CallClass::kAllocate},
    {CudaDomain::kRuntime, 27, "cudaHostAlloc", CallClass::kAllocate},
    {CudaDomain::kRuntime, 31, "cudaMemcpy", CallClass::kCopy},
    {CudaDomain::kRuntime, 41, "cudaMemcpyAsync", CallClass::kCopy},
    {CudaDomain::kRuntime, 225, "cudaMemcpyAsync", CallClass::kCopy},
    {CudaDomain::kRuntime, 44, "cudaMemcpy2DAsync", CallClass::kCopy},
    {CudaDomain::kRuntime, 160, "cudaMemcpyPeer", CallClass::kCopy},
    {CudaDomain::kRuntime, 161, "cudaMemcpyPeerAsync", CallClass::kCopy},
    {CudaDomain::kRuntime, 49, "cudaMemset", CallClass::kMemset},
    {CudaDomain::kRuntime, 51, "cudaMemsetAsync", CallClass::kMemset},
    {CudaDomain::kRuntime, 235, "cudaMemsetAsync", CallClass::kMemset},
    {CudaDomain::kRuntime, 131, "cudaStreamSynchronize", CallClass::kSynchronize},
    {CudaDomain::kRuntime, 239, "cudaStreamSynchronize", CallClass::kSynchronize},
    {CudaDomain::kRuntime, 137, "cudaEventSynchronize", CallClass::kSynchronize},
    {CudaDomain::kRuntime, 165, "cudaDeviceSynchronize", CallClass::kSynchronize},
    {CudaDomain::kRuntime, 284, "cudaLaunchHostFunc", CallClass::kOther},
    {CudaDomain::kRuntime, 311, "cudaGraphLaunch", CallClass::kGraphLaunch},
    {CudaDomain::kRuntime, 312, "cudaGraphLaunch", CallClass::kGraphLaunch},
    {CudaDomain::kRuntime, 373, "cudaMallocAsync", CallClass::kAllocate},
    {CudaDomain::kRuntime, 374, "cudaMallocAsync", CallClass::kAllocate},
    {CudaDomain::kRuntime, 375, "cudaFreeAsync", CallClass::kAllocate},
    {CudaDomain::kRuntime, 376, "cudaFreeAsync", CallClass::kAllocate},
    {CudaDomain::kDriver, 17, "cuCtxSynchronize", CallClass::kSynchronize},
    {CudaDomain::kDriver, 121, "cuEventSynchronize", CallClass::kSynchronize},
    {CudaDomain::kDriver, 126, "cuStreamSynchronize", CallClass::kSynchronize},
    {CudaDomain::kDriver, 216, "cuMemsetD8Async", CallClass::kMemset},
    {CudaDomain::kDriver, 428, "cuMemsetD8Async", CallClass::kMemset},
    {CudaDomain::kDriver, 220, "cuMemsetD32Async", CallClass::kMemset},
    {CudaDomain::kDriver, 430, "cuMemsetD32Async", CallClass::kMemset},
    {CudaDomain::kDriver, 277, "cuMemcpyHtoDAsync", CallClass::kCopy},
    {CudaDomain::kDriver, 279, "cuMemcpyDtoHAsync", CallClass::kCopy},
    {CudaDomain::kDriver, 281, "cuMemcpyDtoDAsync", CallClass::kCopy},
    {CudaDomain::kDriver, 306, "cuMemcpyAsync", CallClass::kCopy},
    {CudaDomain::kDriver, 418, "cuMemcpyAsync", CallClass::kCopy},
    {CudaDomain::kDriver, 318, "cuMemcpyPeer", CallClass::kCopy},
    {CudaDomain::kDriver, 319, "cuMemcpyPeerAsync", CallClass::kCopy},
    {CudaDomain::kDriver, 426, "cuMemcpyPeerAsync", CallClass::kCopy},
    {CudaDomain::kDriver, 307, "cuLaunchKernel", CallClass::kLaunch},
    {CudaDomain::kDriver, 442, "cuLaunchKernel", CallClass::kLaunch},
    {CudaDomain::kDriver, 477, "cuLaunchCooperativeKernel", CallClass::kLaunch},
    {CudaDomain::kDriver, 478, "cuLaunchCooperativeKernel", CallClass::kLaunch},
    {CudaDomain::kDriver, 514, "cuGraphLaunch", CallClass::kGraphLaunch},
    {CudaDomain::kDriver, 515, "cuGraphLaunch", CallClass::kGraphLaunch},
    {CudaDomain::kDriver, 38, "cuMemFreeHost", CallClass::kAllocate},
    {CudaDomain::kDriver, 243, "cuMemAlloc", CallClass::kAllocate},
    {CudaDomain::kDriver, 244, "cuMemAllocPitch", CallClass::kAllocate},
    {CudaDomain::kDriver, 245, "cuMemFree", CallClass::kAllocate},
    {CudaDomain::kDriver, 271, "cuMemHostAlloc", CallClass::kAllocate},
    {CudaDomain::kDriver, 294, "cuMemAllocHost", CallClass::kAllocate},
    {CudaDomain::kDriver, 371, "cuMemAllocManaged", CallClass::kAllocate},
    {CudaDomain::kDriver, 598, "cuMemAllocAsync", CallClass::kAllocate},
    {CudaDomain::kDriver, 599, "cuMemAllocAsync", CallClass::kAllocate},
    {CudaDomain::kDriver, 600, "cuMemFreeAsync", CallClass::kAllocate},
    {CudaDomain::kDriver, 601, "cuMemFreeAsync", CallClass::kAllocate},
    {CudaDomain::kDriver, 611, "cuMemAllocFromPoolAsync", CallClass::kAllocate},
    {CudaDomain::kDriver, 612, "cuMemAllocFromPoolAsync", CallClass::kAllocate},
    {CudaDomain::kDriver, 549, "cuMemCreate", CallClass::kAllocate},
    {CudaDomain::kDriver, 551, "cuMemMap", CallClass::kAllocate},
    {CudaDomain::kDriver, 552, "cuMemUnmap", CallClass::kAllocate},
    {CudaDomain::kDriver, 652, "cuLaunchKernelEx", CallClass::kLaunch},
    {CudaDomain::kDriver, 653, "cuLaunchKernelEx", CallClass::kLaunch},
    {CudaDomain::kDriver, 776, "cuMemcpyBatchAsync", CallClass::kCopy},
    {CudaDomain::kDriver, 777, "cuMemcpyBatchAsync", CallClass::kCopy},
};

// Told in place of the driver's where another client has them recorded (buffer_sharing.h), where
// CUPTI does not report what is inside a runtime call (call_switches.h), and where calls cannot be
// selected (before CUPTI 12.5).
inline constexpr AllowedCall kLaunchesInRuntime[] = {
    {CudaDomain::kRuntime, 211, "cudaLaunchKernel", CallClass::kLaunch},
    {CudaDomain::kRuntime, 214, "cudaLaunchKernel", CallClass::kLaunch},
    {CudaDomain::kRuntime, 269, "cudaLaunchCooperativeKernel", CallClass::kLaunch},
    {CudaDomain::kRuntime, 270, "cudaLaunchCooperativeKernel", CallClass::kLaunch},
    {CudaDomain::kRuntime, 430, "cudaLaunchKernelExC", CallClass::kLaunch},
    {CudaDomain::kRuntime, 431, "cudaLaunchKernelExC", CallClass::kLaunch},
    {CudaDomain::kRuntime, 505, "cudaLaunchKernel", CallClass::kLaunch},
    {CudaDomain::kRuntime, 506, "cudaLaunchKernel", CallClass::kLaunch},
};

// cuDeviceGetCount: recorded when we make it to find out whether records come to us
// (unseen_client.h), never stored.
inline constexpr std::uint32_t kProbeCall = 4;
// cuCtxDetach and cudaThreadExit, which nobody calls since CUDA 4: turned on to hook CUPTI in
// (call_switches.h). A call that comes, as of a process that only counts devices, would make CUPTI
// ask for buffers.
inline constexpr std::uint32_t kDriverHookCall = 13, kRuntimeHookCall = 123;
// cuLaunchKernel: on while we record calls.
inline constexpr std::uint32_t kLaunchCall = 307;

// Whether a driver call of this class may be inside a runtime call that is recorded as well.
inline constexpr auto kRecordedInRuntime = [] {
  std::array<bool, static_cast<std::size_t>(CallClass::kOther) + 1> recorded{};
  for (const AllowedCall& call : kAllowList) {
    if (call.domain == CudaDomain::kRuntime)
      recorded[static_cast<std::size_t>(call.call_class)] = true;
  }
  return recorded;
}();
constexpr bool IsRecordedInRuntime(CallClass call_class) {
  return kRecordedInRuntime[static_cast<std::size_t>(call_class)];
}

// Calls that may take long. They are on outside of windows, too: to turn one on or off while a
// thread is in it does harm (safe_point.h), and they are rare.
constexpr bool MayBlock(CallClass call_class) {
  return call_class == CallClass::kSynchronize || call_class == CallClass::kCopy ||
         call_class == CallClass::kAllocate;
}

// Of both lists.
constexpr const AllowedCall* FindAllowedCall(CudaDomain domain, std::uint32_t cbid) {
  for (const AllowedCall& call : kAllowList) {
    if (call.domain == domain && call.cbid == cbid) return &call;
  }
  for (const AllowedCall& call : kLaunchesInRuntime) {
    if (call.domain == domain && call.cbid == cbid) return &call;
  }
  return nullptr;
}

constexpr bool IsLaunch(CudaDomain domain, std::uint32_t cbid) {
  const AllowedCall* call = FindAllowedCall(domain, cbid);
  return call != nullptr && call->call_class == CallClass::kLaunch;
}

}  // namespace traceinject
