// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/api_class.h"

namespace traceinject {
namespace {

struct Row {
  std::string_view prefix;
  ApiClass api_class;
};

// The first row whose prefix begins the name decides. Prefixes, because every function comes in
// several dresses: cudaMemcpyAsync_ptsz, cuMemcpyDtoHAsync_v2_ptsz.
constexpr Row kRows[] = {
    {"cudaLaunchHostFunc", ApiClass::kOther},
    {"cuLaunchHostFunc", ApiClass::kOther},
    {"cudaLaunch", ApiClass::kLaunch},
    {"cuLaunch", ApiClass::kLaunch},
    {"__cudaLaunchKernel", ApiClass::kLaunch},
    {"cudaGraphLaunch", ApiClass::kGraphLaunch},
    {"cuGraphLaunch", ApiClass::kGraphLaunch},
    {"cudaMemcpy", ApiClass::kCopy},
    {"cuMemcpy", ApiClass::kCopy},
    {"cudaMemset", ApiClass::kMemset},
    {"cuMemset", ApiClass::kMemset},
    {"cudaDeviceSynchronize", ApiClass::kSynchronize},
    {"cudaThreadSynchronize", ApiClass::kSynchronize},
    {"cudaStreamSynchronize", ApiClass::kSynchronize},
    {"cudaEventSynchronize", ApiClass::kSynchronize},
    {"cuCtxSynchronize", ApiClass::kSynchronize},
    {"cuStreamSynchronize", ApiClass::kSynchronize},
    {"cuEventSynchronize", ApiClass::kSynchronize},
    {"cudaStreamWaitEvent", ApiClass::kEvent},
    {"cuStreamWaitEvent", ApiClass::kEvent},
    {"cudaEvent", ApiClass::kEvent},
    {"cuEvent", ApiClass::kEvent},
    {"cudaMalloc", ApiClass::kAllocate},
    {"cudaFree", ApiClass::kAllocate},
    {"cudaHostAlloc", ApiClass::kAllocate},
    {"cudaHostRegister", ApiClass::kAllocate},
    {"cudaHostUnregister", ApiClass::kAllocate},
    {"cuMemAlloc", ApiClass::kAllocate},
    {"cuMemFree", ApiClass::kAllocate},
    {"cuMemHostAlloc", ApiClass::kAllocate},
    {"cuMemHostRegister", ApiClass::kAllocate},
    {"cuMemHostUnregister", ApiClass::kAllocate},
    {"cuMemCreate", ApiClass::kAllocate},
    {"cuMemRelease", ApiClass::kAllocate},
    {"cuMemMap", ApiClass::kAllocate},
    {"cuMemUnmap", ApiClass::kAllocate},
    // HIP, as AMD's runtime names the same.
    {"hipLaunchHostFunc", ApiClass::kOther},
    {"hipLaunch", ApiClass::kLaunch},
    {"hipExtLaunch", ApiClass::kLaunch},
    {"hipModuleLaunch", ApiClass::kLaunch},
    {"hipExtModuleLaunch", ApiClass::kLaunch},
    {"hipHccModuleLaunch", ApiClass::kLaunch},
    {"hipGraphLaunch", ApiClass::kGraphLaunch},
    {"hipMemcpy", ApiClass::kCopy},
    {"hipMemset", ApiClass::kMemset},
    {"hipDeviceSynchronize", ApiClass::kSynchronize},
    {"hipStreamSynchronize", ApiClass::kSynchronize},
    {"hipEventSynchronize", ApiClass::kSynchronize},
    {"hipCtxSynchronize", ApiClass::kSynchronize},
    {"hipStreamWaitEvent", ApiClass::kEvent},
    {"hipEvent", ApiClass::kEvent},
    {"hipMalloc", ApiClass::kAllocate},
    {"hipFree", ApiClass::kAllocate},
    {"hipExtMalloc", ApiClass::kAllocate},
    {"hipHostMalloc", ApiClass::kAllocate},
    {"hipHostAlloc", ApiClass::kAllocate},
    {"hipHostFree", ApiClass::kAllocate},
    {"hipHostRegister", ApiClass::kAllocate},
    {"hipHostUnregister", ApiClass::kAllocate},
    {"hipMemAlloc", ApiClass::kAllocate},
    {"hipMemCreate", ApiClass::kAllocate},
    {"hipMemRelease", ApiClass::kAllocate},
    {"hipMemMap", ApiClass::kAllocate},
    {"hipMemUnmap", ApiClass::kAllocate},
};

}  // namespace

ApiClass ClassifyApi(std::string_view name) {
  for (const Row& row : kRows) {
    if (name.starts_with(row.prefix)) return row.api_class;
  }
  return ApiClass::kOther;
}

ApiDomain DomainOfApi(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "__cuda", "hip", "__hip"}) {
    if (name.starts_with(prefix)) return ApiDomain::kRuntime;
  }
  return ApiDomain::kDriver;
}

}  // namespace traceinject
