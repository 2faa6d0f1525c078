// SPDX-License-Identifier: Apache-2.0
// A library that calls cuBLAS, loaded with RTLD_LOCAL as PyTorch's is: RunProducts() asks for one
// product of each kind and returns how many calls did not return what they should; RunProduct() for
// one in BF16, and returns what that did.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstdint>

#include "tests/fake_gpu/libraries/cublas_api.h"

namespace fake = traceinject::fake;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

cublasLtMatrixLayout_t Layout(fake::LtLayout& of) {
  return reinterpret_cast<cublasLtMatrixLayout_t>(&of);
}

}  // namespace

EXPORT int RunProduct(int m, int n, int k, cudaStream_t stream) {
  const float one = 1;
  cublasLtHandle_t light = nullptr;
  if (cublasLtCreate(&light) != CUBLAS_STATUS_SUCCESS) return CUBLAS_STATUS_NOT_INITIALIZED;
  fake::LtOperation operation{CUBLAS_COMPUTE_32F, CUBLAS_OP_N, CUBLAS_OP_N};
  const auto matrix = [](int rows, int columns) {
    return fake::LtLayout{CUDA_R_16BF, static_cast<std::uint64_t>(rows),
                          static_cast<std::uint64_t>(columns)};
  };
  fake::LtLayout a = matrix(m, k), b = matrix(k, n), d = matrix(m, n);
  return cublasLtMatmul(light, reinterpret_cast<cublasLtMatmulDesc_t>(&operation), &one, nullptr,
                        Layout(a), nullptr, Layout(b), &one, nullptr, Layout(d), nullptr, Layout(d),
                        nullptr, nullptr, 0, stream);
}

EXPORT int RunProducts() {
  const float one = 1;
  float* matrix = nullptr;
  void* plain = nullptr;
  void* const* pointers = nullptr;
  cublasHandle_t handle = nullptr;
  cublasLtHandle_t light = nullptr;
  int wrong = 0;
  const auto expect = [&wrong](cublasStatus_t result, int expected) {
    wrong += static_cast<int>(result) != expected ? 1 : 0;
  };
  expect(cublasCreate_v2(&handle), 0);
  expect(cublasLtCreate(&light), 0);
  expect(cublasSgemm_v2(handle, CUBLAS_OP_T, CUBLAS_OP_N, 128, 64, 32, &one, matrix, 32, matrix, 32,
                        &one, matrix, 128),
         0);
  expect(cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, -1, 1, 1, &one, matrix, 1, matrix, 1,
                        &one, matrix, 1),
         7);
  expect(cublasSgemm_v2_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, std::int64_t{1} << 33, 2, 3, &one,
                           matrix, 1, matrix, 1, &one, matrix, 1),
         0);
  expect(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, 256, 512, 1024, &one, plain, CUDA_R_16BF,
                      256, plain, CUDA_R_16BF, 512, &one, plain, CUDA_R_32F, 256,
                      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
         0);
  expect(
      cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 16, 32, 64, &one, plain,
                                 CUDA_R_16F, 16, 1024, plain, CUDA_R_16F, 64, 2048, &one, plain,
                                 CUDA_R_16F, 16, 512, 12, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT),
      0);
  expect(cublasGemmBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 9, 10, &one, pointers, CUDA_R_32F,
                             8, pointers, CUDA_R_32F, 10, &one, pointers, CUDA_R_32F, 8, 5,
                             CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT),
         0);
  const cublasOperation_t operations[] = {CUBLAS_OP_N, CUBLAS_OP_T};
  const int sizes[] = {3, 4}, m[] = {10, 20}, n[] = {30, 40}, k[] = {50, 60};
  expect(cublasGemmGroupedBatchedEx(handle, operations, operations, m, n, k, &one, pointers,
                                    CUDA_R_16BF, m, pointers, CUDA_R_16BF, n, &one, pointers,
                                    CUDA_R_16BF, m, 2, sizes, CUBLAS_COMPUTE_32F),
         0);
  fake::LtOperation operation{CUBLAS_COMPUTE_32F, CUBLAS_OP_T, CUBLAS_OP_N};
  // fp8: a is k x m, transposed.
  fake::LtLayout a{CUDA_R_8F_E4M3, 700, 500, 2}, b{CUDA_R_8F_E4M3, 700, 600, 2},
      d{CUDA_R_16BF, 500, 600, 2};
  expect(cublasLtMatmul(light, reinterpret_cast<cublasLtMatmulDesc_t>(&operation), &one, plain,
                        Layout(a), plain, Layout(b), &one, plain, Layout(d), plain, Layout(d),
                        nullptr, nullptr, 0, nullptr),
         0);
  return wrong;
}
