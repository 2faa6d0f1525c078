// SPDX-License-Identifier: Apache-2.0
// libcublas.so: one function of each family. As in the real one, some products are handed to
// cuBLASLt's public function, some are kernels of its own, and a handle is of use only to the
// library that made it.
#include <cuda_runtime_api.h>

#include <cstdint>

#include "tests/fake_gpu/libraries/cublas_api.h"
#include "tests/fake_gpu/simulator/program.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace fake = traceinject::fake;

extern "C" int cublasLtMatmul(void* handle, fake::LtOperation* operation, const void* alpha,
                              const void* a, fake::LtLayout* layout_a, const void* b,
                              fake::LtLayout* layout_b, const void* beta, const void* c,
                              fake::LtLayout* layout_c, void* d, fake::LtLayout* layout_d,
                              const void* algorithm, void* workspace, std::size_t workspace_bytes,
                              void* stream);
extern "C" int cublasLtCreate(void** handle);

namespace {

char g_context = 0;  // what handles point to

constexpr int kNotInitialized = 1;  // CUBLAS_STATUS_NOT_INITIALIZED

int Launch(void* handle, int kernels) {
  if (handle != &g_context) return kNotInitialized;
  static const fake::KernelCode kernel{fake::KernelCode::kMagic, "sm90_gemm", 10'000, 168, 0, 0};
  for (int i = 0; i < kernels; ++i) {
    if (cudaLaunchKernel(&kernel, {4, 1, 1}, {128, 1, 1}, nullptr, 0, nullptr) != cudaSuccess)
      return 13;
  }
  return 0;
}

int HandOver(void* handle, std::int64_t m, std::int64_t n, std::int64_t k) {
  void* light = nullptr;
  if (handle != &g_context || cublasLtCreate(&light) != 0) return kNotInitialized;
  fake::LtOperation operation;
  const auto rows = [](std::int64_t size) { return static_cast<std::uint64_t>(size); };
  fake::LtLayout a{0, rows(m), rows(k)}, b{0, rows(k), rows(n)}, c{0, rows(m), rows(n)};
  return cublasLtMatmul(light, &operation, nullptr, nullptr, &a, nullptr, &b, nullptr, nullptr, &c,
                        nullptr, &c, nullptr, nullptr, 0, nullptr);
}

}  // namespace

EXPORT int cublasCreate_v2(void** handle) { return *handle = &g_context, 0; }

EXPORT int cublasSgemm_v2(void* handle, int, int, int m, int n, int k, const float*, const float*,
                          int, const float*, int, const float*, float*, int) {
  return m < 0 ? 7 : HandOver(handle, m, n, k);
}

EXPORT int cublasSgemm_v2_64(void* handle, int, int, std::int64_t, std::int64_t, std::int64_t,
                             const float*, const float*, std::int64_t, const float*, std::int64_t,
                             const float*, float*, std::int64_t) {
  return Launch(handle, 1);
}

EXPORT int cublasGemmEx(void* handle, int, int, int, int, int, const void*, const void*, int, int,
                        const void*, int, int, const void*, void*, int, int, int, int) {
  return Launch(handle, 2);  // split over k, and added up
}

EXPORT int cublasGemmStridedBatchedEx(void* handle, int, int, int, int, int, const void*,
                                      const void*, int, int, long long, const void*, int, int,
                                      long long, const void*, void*, int, int, long long, int, int,
                                      int) {
  return Launch(handle, 1);
}

EXPORT int cublasGemmBatchedEx(void* handle, int, int, int, int, int, const void*,
                               const void* const[], int, int, const void* const[], int, int,
                               const void*, void* const[], int, int, int, int, int) {
  return Launch(handle, 1);
}

EXPORT int cublasGemmGroupedBatchedEx(void* handle, const int[], const int[], const int[],
                                      const int[], const int[], const void*, const void* const[],
                                      int, const int[], const void* const[], int, const int[],
                                      const void*, void* const[], int, const int[], int,
                                      const int[], int) {
  return Launch(handle, 1);
}
