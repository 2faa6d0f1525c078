// SPDX-License-Identifier: Apache-2.0
// libcublasLt.so: descriptors hold what programs set in them, a product is one kernel.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>

#include "tests/fake_gpu/cublas_api.h"
#include "tests/fake_gpu/program.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace fake = traceinject::fake;
using fake::LtLayout;
using fake::LtOperation;

namespace {

char g_context = 0;  // what handles point to

template <typename Value>
int Get(const Value& value, void* buffer, std::size_t bytes, std::size_t* written) {
  if (bytes != sizeof value) return 7;  // CUBLAS_STATUS_INVALID_VALUE
  std::memcpy(buffer, &value, sizeof value);
  if (written != nullptr) *written = sizeof value;
  return 0;
}

}  // namespace

EXPORT int cublasLtMatrixLayoutGetAttribute(const LtLayout* layout, int attribute, void* buffer,
                                            std::size_t bytes, std::size_t* written) {
  switch (attribute) {
    case 0:
      return Get(layout->type, buffer, bytes, written);
    case 2:
      return Get(layout->rows, buffer, bytes, written);
    case 3:
      return Get(layout->columns, buffer, bytes, written);
    case 5:
      return Get(layout->batch, buffer, bytes, written);
    default:
      return 7;
  }
}

EXPORT int cublasLtMatmulDescGetAttribute(const LtOperation* operation, int attribute, void* buffer,
                                          std::size_t bytes, std::size_t* written) {
  switch (attribute) {
    case 0:
      return Get(operation->compute_type, buffer, bytes, written);
    case 3:
      return Get(operation->trans_a, buffer, bytes, written);
    case 4:
      return Get(operation->trans_b, buffer, bytes, written);
    default:
      return 7;
  }
}

EXPORT int cublasLtCreate(void** handle) { return *handle = &g_context, 0; }

EXPORT int cublasLtMatmul(void* handle, LtOperation*, const void*, const void*, LtLayout*,
                          const void*, LtLayout*, const void*, const void*, LtLayout*, void*,
                          LtLayout*, const void*, void*, std::size_t, void* stream) {
  if (handle != &g_context) return 1;  // CUBLAS_STATUS_NOT_INITIALIZED
  static const fake::KernelCode kernel{fake::KernelCode::kMagic, "sm90_lt_gemm", 20'000, 168, 0, 0};
  return cudaLaunchKernel(&kernel, {8, 1, 1}, {128, 1, 1}, nullptr, 0,
                          static_cast<cudaStream_t>(stream)) == cudaSuccess
             ? 0
             : 13;  // CUBLAS_STATUS_EXECUTION_FAILED
}
