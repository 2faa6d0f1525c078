// SPDX-License-Identifier: Apache-2.0
// A plain CUDA program for others_verdicts.py: small kernels, and on the host some work between
// them. As it is it waits for the device after each kernel, mended only once a step.
//
//   sync_loop SECONDS as-is|mended    prints "step_ms" and what a step took
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void Relax(float* data, int rounds) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  float value = data[at];
  for (int i = 0; i < rounds; ++i) value = value * 0.999f + 0.001f;
  data[at] = value;
}

static double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What the program thinks of the last result.
static volatile double g_estimate = 1;
__attribute__((noinline)) void Estimate() {
  for (int i = 0; i < 60000; ++i) g_estimate = g_estimate * 1.0000001;
}

__attribute__((noinline)) void Sweep(float* data, bool waits) {
  for (int i = 0; i < 40; ++i) {
    Relax<<<2048, 256>>>(data, 12000);
    if (waits) cudaDeviceSynchronize();
    Estimate();
  }
  cudaDeviceSynchronize();
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 4;
  const bool waits = argc < 3 || strcmp(argv[2], "mended") != 0;
  float* data = nullptr;
  if (cudaMalloc(&data, 2048 * 256 * sizeof(float)) != cudaSuccess) return 1;
  for (int i = 0; i < 5; ++i) Sweep(data, waits);
  const double began = Now();
  int steps = 0;
  for (; Now() - began < seconds; ++steps) Sweep(data, waits);
  printf("step_ms %.4f\n", 1e3 * (Now() - began) / steps);
  return 0;
}
