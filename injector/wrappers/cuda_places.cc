// SPDX-License-Identifier: Apache-2.0
// Wrappers of the calls whose place in the program is asked for: those that may keep the host
// waiting (blocking copies, memory of the device) and those that launch work. CUPTI tells of the
// calls themselves; here only the Python stack of some is taken (own_stack.h). Those that wait for
// work are wrapped in cuda.cc.
//
// A wrapper forwards the call whatever happens (real_function.h says to where). libcudart's own
// calls into libcuda do not come by here, nor do those of programs that look a function up.
#include <cstddef>

#include "injector/base/exported.h"
#include "injector/base/real_function.h"
#include "injector/stacks/own_stack.h"

namespace traceinject {
namespace {

constexpr int kPlaceNotLoaded = 303;  // as in cuda.cc

constexpr char kPlaceRuntime[] = "libcudart.so", kPlaceDriver[] = "libcuda.so";

struct Dim3 {
  unsigned x, y, z;
};

}  // namespace
}  // namespace traceinject

using traceinject::Dim3;

#define TRACEINJECT_PLACE(with, library, name, parameters, arguments)           \
  extern "C" TRACEINJECT_EXPORT int name parameters {                           \
    static constinit traceinject::RealFunction<int parameters> real;            \
    auto* function = real.Get(traceinject::library, #name, TRACEINJECT_CALLER); \
    if (function == nullptr) return traceinject::kPlaceNotLoaded;               \
    return traceinject::with([&] { return function arguments; });               \
  }
#define TRACEINJECT_WAIT_PLACE(...) TRACEINJECT_PLACE(WithWaitStack, __VA_ARGS__)
#define TRACEINJECT_LAUNCH_PLACE(...) TRACEINJECT_PLACE(WithLaunchStack, __VA_ARGS__)

TRACEINJECT_WAIT_PLACE(kPlaceRuntime, cudaMalloc, (void** memory, std::size_t bytes),
                       (memory, bytes))
TRACEINJECT_WAIT_PLACE(kPlaceRuntime, cudaFree, (void* memory), (memory))
TRACEINJECT_WAIT_PLACE(kPlaceRuntime, cudaHostAlloc,
                       (void** memory, std::size_t bytes, unsigned flags), (memory, bytes, flags))
TRACEINJECT_WAIT_PLACE(kPlaceRuntime, cudaMemcpy,
                       (void* to, const void* from, std::size_t bytes, int kind),
                       (to, from, bytes, kind))
TRACEINJECT_WAIT_PLACE(kPlaceRuntime, cudaMemcpyAsync,
                       (void* to, const void* from, std::size_t bytes, int kind, void* stream),
                       (to, from, bytes, kind, stream))
TRACEINJECT_WAIT_PLACE(kPlaceDriver, cuMemAlloc_v2, (unsigned long long* memory, std::size_t bytes),
                       (memory, bytes))
TRACEINJECT_WAIT_PLACE(kPlaceDriver, cuMemFree_v2, (unsigned long long memory), (memory))
TRACEINJECT_WAIT_PLACE(kPlaceDriver, cuMemcpyHtoD_v2,
                       (unsigned long long to, const void* from, std::size_t bytes),
                       (to, from, bytes))
TRACEINJECT_WAIT_PLACE(kPlaceDriver, cuMemcpyDtoH_v2,
                       (void* to, unsigned long long from, std::size_t bytes), (to, from, bytes))

#define TRACEINJECT_KERNEL_PLACE(name)                                                   \
  TRACEINJECT_LAUNCH_PLACE(kPlaceRuntime, name,                                          \
                           (const void* kernel, Dim3 grid, Dim3 block, void** arguments, \
                            std::size_t shared_bytes, void* stream),                     \
                           (kernel, grid, block, arguments, shared_bytes, stream))
TRACEINJECT_KERNEL_PLACE(cudaLaunchKernel)
TRACEINJECT_KERNEL_PLACE(cudaLaunchKernel_ptsz)
TRACEINJECT_KERNEL_PLACE(__cudaLaunchKernel)  // of what was compiled by CUDA 13
TRACEINJECT_KERNEL_PLACE(__cudaLaunchKernel_ptsz)
TRACEINJECT_KERNEL_PLACE(cudaLaunchCooperativeKernel)
TRACEINJECT_LAUNCH_PLACE(kPlaceRuntime, cudaLaunchKernelExC,
                         (const void* config, const void* kernel, void** arguments),
                         (config, kernel, arguments))
TRACEINJECT_LAUNCH_PLACE(kPlaceRuntime, cudaGraphLaunch, (void* graph, void* stream),
                         (graph, stream))
TRACEINJECT_LAUNCH_PLACE(kPlaceDriver, cuLaunchKernel,
                         (void* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, void* stream, void** arguments, void** extra),
                         (kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                          stream, arguments, extra))
TRACEINJECT_LAUNCH_PLACE(kPlaceDriver, cuLaunchKernelEx,
                         (const void* config, void* kernel, void** arguments, void** extra),
                         (config, kernel, arguments, extra))
TRACEINJECT_LAUNCH_PLACE(kPlaceDriver, cuGraphLaunch, (void* graph, void* stream), (graph, stream))
