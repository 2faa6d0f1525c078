// SPDX-License-Identifier: Apache-2.0
// Launches kernels that differ in registers, threads and shared memory, and prints as JSON how many
// blocks of each CUDA says fit on a multiprocessor at a time. Exit code 0: all ran.
#include <cuda_runtime.h>

#include <cstdio>

// About kValues registers stay in use.
template <int kValues, int kThreads, int kSharedBytes>
__global__ void fit(float* numbers) {
  extern __shared__ float shared[];
  float values[kValues];
#pragma unroll
  for (int i = 0; i < kValues; ++i) values[i] = numbers[threadIdx.x + i * kThreads];
  for (int round = 0; round < 4; ++round) {
#pragma unroll
    for (int i = 0; i < kValues; ++i)
      values[i] = values[i] * values[(i + 7) % kValues] + values[(i + 3) % kValues];
  }
  if (kSharedBytes > 0) shared[threadIdx.x] = values[0];
#pragma unroll
  for (int i = 0; i < kValues; ++i) numbers[threadIdx.x + i * kThreads] = values[i];
}

template <int kValues, int kThreads, int kSharedBytes>
bool Run(float* numbers, const char* separator) {
  const auto kernel = fit<kValues, kThreads, kSharedBytes>;
  int blocks = 0;
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes) !=
      cudaSuccess)
    return false;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kThreads, kSharedBytes) !=
      cudaSuccess)
    return false;
  kernel<<<200, kThreads, kSharedBytes>>>(numbers);
  if (cudaDeviceSynchronize() != cudaSuccess) return false;
  std::printf("%s\"void fit<%d, %d, %d>(float*)\": %d", separator, kValues, kThreads, kSharedBytes,
              blocks);
  return true;
}

int main() {
  float* numbers = nullptr;
  if (cudaMalloc(&numbers, 1024 * 256 * sizeof(float)) != cudaSuccess) return 1;
  std::printf("{");
  const bool ran = Run<4, 32, 0>(numbers, "") && Run<4, 96, 0>(numbers, ", ") &&
                   Run<4, 256, 0>(numbers, ", ") && Run<4, 1024, 0>(numbers, ", ") &&
                   Run<40, 64, 0>(numbers, ", ") && Run<40, 160, 0>(numbers, ", ") &&
                   Run<40, 512, 0>(numbers, ", ") && Run<100, 96, 0>(numbers, ", ") &&
                   Run<100, 256, 0>(numbers, ", ") && Run<200, 128, 0>(numbers, ", ") &&
                   Run<4, 128, 10000>(numbers, ", ") && Run<4, 128, 16384>(numbers, ", ") &&
                   Run<4, 128, 46000>(numbers, ", ") && Run<40, 256, 98304>(numbers, ", ");
  std::printf("}\n");
  return ran ? 0 : 1;
}
