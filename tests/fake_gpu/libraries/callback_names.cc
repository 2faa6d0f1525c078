// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/libraries/callback_names.h"

namespace traceinject::fake {
namespace {

struct NamedCall {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  const char* name;
};

#define RUNTIME(name) \
  { CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##name, #name }
#define DRIVER(name) \
  { CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_##name, #name }

constexpr NamedCall kCalls[] = {
    RUNTIME(cudaMalloc_v3020),
    RUNTIME(cudaFree_v3020),
    RUNTIME(cudaFreeHost_v3020),
    RUNTIME(cudaHostAlloc_v3020),
    RUNTIME(cudaMemcpy_v3020),
    RUNTIME(cudaMemcpyAsync_v3020),
    RUNTIME(cudaMemcpyAsync_ptsz_v7000),
    RUNTIME(cudaMemcpy2DAsync_v3020),
    RUNTIME(cudaMemcpyPeerAsync_v4000),
    RUNTIME(cudaMemset_v3020),
    RUNTIME(cudaMemsetAsync_v3020),
    RUNTIME(cudaStreamCreate_v3020),
    RUNTIME(cudaStreamCreateWithFlags_v5000),
    RUNTIME(cudaStreamCreateWithPriority_v5050),
    RUNTIME(cudaStreamDestroy_v5050),
    RUNTIME(cudaStreamSynchronize_v3020),
    RUNTIME(cudaStreamSynchronize_ptsz_v7000),
    RUNTIME(cudaStreamWaitEvent_v3020),
    RUNTIME(cudaStreamWaitEvent_ptsz_v7000),
    RUNTIME(cudaEventCreate_v3020),
    RUNTIME(cudaEventCreateWithFlags_v3020),
    RUNTIME(cudaEventRecord_v3020),
    RUNTIME(cudaEventRecord_ptsz_v7000),
    RUNTIME(cudaEventRecordWithFlags_v11010),
    RUNTIME(cudaEventRecordWithFlags_ptsz_v11010),
    RUNTIME(cudaEventDestroy_v3020),
    RUNTIME(cudaEventSynchronize_v3020),
    RUNTIME(cudaEventQuery_v3020),
    RUNTIME(cudaDeviceSynchronize_v3020),
    RUNTIME(cudaLaunchKernel_v7000),
    RUNTIME(cudaLaunchKernel_ptsz_v7000),
    RUNTIME(__cudaLaunchKernel_v13000),
    RUNTIME(__cudaLaunchKernel_ptsz_v13000),
    RUNTIME(cudaLaunchCooperativeKernel_v9000),
    RUNTIME(cudaLaunchCooperativeKernel_ptsz_v9000),
    RUNTIME(cudaLaunchHostFunc_v10000),
    RUNTIME(cudaLaunchKernelExC_v11060),
    RUNTIME(cudaLaunchKernelExC_ptsz_v11060),
    RUNTIME(cudaGraphLaunch_v10000),
    RUNTIME(cudaGraphLaunch_ptsz_v10000),
    RUNTIME(cudaMallocAsync_v11020),
    RUNTIME(cudaMallocAsync_ptsz_v11020),
    RUNTIME(cudaFreeAsync_v11020),
    RUNTIME(cudaFreeAsync_ptsz_v11020),
    DRIVER(cuCtxSynchronize),
    DRIVER(cuEventRecord),
    DRIVER(cuEventQuery),
    DRIVER(cuEventSynchronize),
    DRIVER(cuStreamSynchronize),
    DRIVER(cuStreamWaitEvent),
    DRIVER(cuMemAlloc_v2),
    DRIVER(cuMemFree_v2),
    DRIVER(cuMemsetD8Async),
    DRIVER(cuMemsetD32Async),
    DRIVER(cuMemcpyHtoDAsync_v2),
    DRIVER(cuMemcpyDtoHAsync_v2),
    DRIVER(cuMemcpyDtoDAsync_v2),
    DRIVER(cuMemcpyAsync),
    DRIVER(cuMemcpyPeerAsync),
    DRIVER(cuMemcpyBatchAsync),
    DRIVER(cuLaunchKernel),
    DRIVER(cuLaunchKernel_ptsz),
    DRIVER(cuLaunchCooperativeKernel),
    DRIVER(cuLaunchKernelEx),
    DRIVER(cuLaunchKernelEx_ptsz),
    DRIVER(cuGraphLaunch),
    DRIVER(cuGraphLaunch_ptsz),
    DRIVER(cuMemCreate),
    DRIVER(cuMemMap),
    DRIVER(cuMemUnmap),
};

#undef RUNTIME
#undef DRIVER

}  // namespace

const char* CallbackName(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  for (const NamedCall& call : kCalls) {
    if (call.domain == domain && call.id == id) return call.name;
  }
  return nullptr;
}

}  // namespace traceinject::fake
