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
};

}  // namespace

ApiClass ClassifyApi(std::string_view name) {
  for (const Row& row : kRows) {
    if (name.starts_with(row.prefix)) return row.api_class;
  }
  return ApiClass::kOther;
}

ApiDomain DomainOfApi(std::string_view name) {
  return name.starts_with("cuda") || name.starts_with("__cuda") ? ApiDomain::kRuntime
                                                                : ApiDomain::kDriver;
}

}  // namespace traceinject
