// SPDX-License-Identifier: Apache-2.0
#include "empty_kernel.h"

#include <cuda.h>

namespace empty_kernel {
namespace {

constexpr char kPtx[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }\n";

struct Dim3 {  // dim3 of the runtime's headers, which C++ without nvcc need not have
  unsigned x = 1, y = 1, z = 1;
};

}  // namespace

Gpu ThroughDriver() {
  void* cuda = Open("libcuda.so.1");
  auto* launch = Find<decltype(cuLaunchKernel)>(cuda, "cuLaunchKernel");
  auto* wait = Find<decltype(cuCtxSynchronize)>(cuda, "cuCtxSynchronize");
  CUcontext context;
  CUmodule module;
  CUfunction kernel;
  Check(Find<CUresult(unsigned)>(cuda, "cuInit")(0), "cuInit");
  Check(Find<CUresult(CUcontext*, CUdevice)>(cuda, "cuDevicePrimaryCtxRetain")(&context, 0),
        "cuDevicePrimaryCtxRetain");
  Check(Find<CUresult(CUcontext)>(cuda, "cuCtxSetCurrent")(context), "cuCtxSetCurrent");
  Check(Find<decltype(cuModuleLoadData)>(cuda, "cuModuleLoadData")(&module, kPtx),
        "cuModuleLoadData");
  Check(
      Find<decltype(cuModuleGetFunction)>(cuda, "cuModuleGetFunction")(&kernel, module, "nothing"),
      "cuModuleGetFunction");
  return {[=] {
            Check(launch(kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr),
                  "cuLaunchKernel");
          },
          [=] { Check(wait(), "cuCtxSynchronize"); }};
}

Gpu ThroughRuntime(const char* library) {
  void* cudart = Open(library);
  auto* launch =
      Find<int(void*, Dim3, Dim3, void**, std::size_t, void*)>(cudart, "cudaLaunchKernel");
  auto* wait = Find<int()>(cudart, "cudaDeviceSynchronize");
  void *code = nullptr, *kernel = nullptr;
  using Load = int(void**, const void*, int*, void**, unsigned, int*, void**, unsigned);
  Check(Find<Load>(cudart, "cudaLibraryLoadData")(&code, kPtx, nullptr, nullptr, 0, nullptr,
                                                  nullptr, 0),
        "cudaLibraryLoadData");
  Check(Find<int(void**, void*, const char*)>(cudart, "cudaLibraryGetKernel")(&kernel, code,
                                                                              "nothing"),
        "cudaLibraryGetKernel");
  return {[=] {
            Check(launch(kernel, {}, {32, 1, 1}, nullptr, 0, nullptr), "cudaLaunchKernel");
          },
          [=] { Check(wait(), "cudaDeviceSynchronize"); }};
}

}  // namespace empty_kernel
