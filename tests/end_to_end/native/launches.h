// SPDX-License-Identifier: Apache-2.0
// Launches on the fake GPU as nvcc writes them: `name<<<...>>>(...)` calls a function on the host
// that has the kernel's own name, and that calls a stub with the launch in it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstring>

#include "tests/fake_gpu/simulator/program.h"

#define NOINLINE [[gnu::noinline]]
// A call that it stands behind is not the last thing that a function does.
#define NOT_LAST __asm__ volatile("")

// It stays when the code that launches it is unloaded: operations of it may still run.
inline const traceinject::fake::KernelCode* NewKernel(const char* symbol, int duration_ns) {
  return new traceinject::fake::KernelCode{
      traceinject::fake::KernelCode::kMagic, strdup(symbol), duration_ns, 32, 0, 0};
}

inline void Launch(const traceinject::fake::KernelCode* kernel, cudaStream_t stream = nullptr) {
  cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 0, stream);
}

// `symbol`: of the function that it makes.
#define KERNEL(name, symbol, duration_ns)                       \
  NOINLINE void __device_stub__##name(float*) {                 \
    static const auto* kernel = NewKernel(symbol, duration_ns); \
    Launch(kernel);                                             \
    NOT_LAST;                                                   \
  }                                                             \
  NOINLINE void name(float* data) {                             \
    __device_stub__##name(data);                                \
    NOT_LAST;                                                   \
  }
