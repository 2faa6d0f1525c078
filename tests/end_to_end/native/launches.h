// SPDX-License-Identifier: Apache-2.0
// Launches on the fake GPU as nvcc writes them: `name<<<...>>>(...)` calls a function on the host
// that has the kernel's own name, and that calls a stub with the launch in it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tests/fake_gpu/simulator/program.h"

#define NOINLINE [[gnu::noinline]]
// A call that it stands behind is not the last thing that a function does.
#define NOT_LAST __asm__ volatile("")

inline void Launch(const traceinject::fake::KernelCode& kernel) {
  cudaLaunchKernel(&kernel, dim3(1), dim3(1), nullptr, 0, nullptr);
}

// `symbol`: of the function that it makes.
#define KERNEL(name, symbol, duration_ns)                                      \
  NOINLINE void __device_stub__##name(float*) {                                \
    static const traceinject::fake::KernelCode kernel{                         \
        traceinject::fake::KernelCode::kMagic, symbol, duration_ns, 32, 0, 0}; \
    Launch(kernel);                                                            \
    NOT_LAST;                                                                  \
  }                                                                            \
  NOINLINE void name(float* data) {                                            \
    __device_stub__##name(data);                                               \
    NOT_LAST;                                                                  \
  }
