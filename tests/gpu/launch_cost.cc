// SPDX-License-Identifier: Apache-2.0
// What one kernel launch costs the thread that makes it. Launches an empty kernel in blocks that
// fit the GPU's queue, so that no launch waits for the GPU, and prints one line: the median and the
// lowest decile over the blocks, in ns a launch. The lowest decile is what the launch costs when
// nothing else disturbs the machine.
//
// usage: launch_cost [libcudart.so.N]    with a runtime library: through cudaLaunchKernel, as
// PyTorch does; without: cuLaunchKernel
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

namespace {

constexpr int kBlocks = 400, kWarmUp = 40, kLaunches = 250;
constexpr char kPtx[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }\n";

struct Dim3 {  // dim3 of the runtime's headers, which C++ without nvcc need not have
  unsigned x = 1, y = 1, z = 1;
};

void* Open(const char* library) {
  void* handle = dlopen(library, RTLD_NOW);
  if (handle == nullptr) {
    std::fprintf(stderr, "launch_cost: %s\n", dlerror());
    std::exit(2);
  }
  return handle;
}

template <typename Function>
Function* Find(void* handle, const char* name) {
  auto* function = reinterpret_cast<Function*>(dlsym(handle, name));
  if (function == nullptr) {
    std::fprintf(stderr, "launch_cost: %s is not there\n", name);
    std::exit(2);
  }
  return function;
}

void Check(int result, const char* what) {
  if (result == 0) return;
  std::fprintf(stderr, "launch_cost: %s failed with %d\n", what, result);
  std::exit(2);
}

struct Gpu {
  std::function<void()> launch, wait;
};

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

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
    std::fprintf(stderr, "usage: launch_cost [libcudart.so.N]\n");
    return 2;
  }
  const Gpu gpu = argc == 2 ? ThroughRuntime(argv[1]) : ThroughDriver();
  std::vector<double> ns;
  for (int block = 0; block < kWarmUp + kBlocks; ++block) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i) gpu.launch();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    gpu.wait();
    if (block >= kWarmUp) ns.push_back(spent.count() / kLaunches);
  }
  std::sort(ns.begin(), ns.end());
  std::printf("%.1f %.1f\n", ns[ns.size() / 2], ns[ns.size() / 10]);
}
