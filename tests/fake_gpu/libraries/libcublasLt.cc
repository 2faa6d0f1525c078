// SPDX-License-Identifier: Apache-2.0
// libcublasLt.so: descriptors hold what programs set in them, a product is one kernel. It is as
// fast as on an H100: good products of 16-bit numbers run at 675 TFLOP/s, but where a matrix has
// rows that are no multiple of 16 bytes, the kernel that can load them takes three times as long.
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tests/fake_gpu/libraries/cublas_api.h"
#include "tests/fake_gpu/simulator/program.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace fake = traceinject::fake;
using fake::LtLayout;
using fake::LtOperation;

namespace {

char g_context = 0;  // what handles point to

constexpr double kFlopsPerNs = 675'000;
constexpr std::int64_t kMinNs = 20'000;

template <typename Value>
int Get(const Value& value, void* buffer, std::size_t bytes, std::size_t* written) {
  if (bytes != sizeof value) return 7;  // CUBLAS_STATUS_INVALID_VALUE
  std::memcpy(buffer, &value, sizeof value);
  if (written != nullptr) *written = sizeof value;
  return 0;
}

bool IsAligned(const LtLayout& layout) {
  switch (layout.type) {
    case CUDA_R_32F:
      return layout.rows % 4 == 0;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return layout.rows % 8 == 0;
    default:
      return layout.rows % 16 == 0;
  }
}

fake::KernelCode KernelOf(const LtOperation& operation, const LtLayout& a, const LtLayout& b,
                          const LtLayout& d) {
  const std::uint64_t depth = operation.trans_a == 0 ? a.columns : a.rows;
  const double flops = 2.0 * static_cast<double>(d.rows) * static_cast<double>(d.columns) *
                       static_cast<double>(depth) * static_cast<double>(d.batch);
  const bool aligned = IsAligned(a) && IsAligned(b) && IsAligned(d);
  fake::KernelCode kernel;
  kernel.name = aligned ? "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_NNT"
                        : "cutlass_80_tensorop_bf16_s16816gemm_bf16_128x256_32x3_nn_align1";
  const double length_ns = flops / kFlopsPerNs * (aligned ? 1 : 3);
  kernel.duration_ns = std::max(kMinNs, static_cast<std::int64_t>(length_ns));
  kernel.registers = 168;
  return kernel;
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

EXPORT int cublasLtMatmul(void* handle, LtOperation* operation, const void*, const void*,
                          LtLayout* a, const void*, LtLayout* b, const void*, const void*,
                          LtLayout*, void*, LtLayout* d, const void*, void*, std::size_t,
                          void* stream) {
  if (handle != &g_context) return 1;  // CUBLAS_STATUS_NOT_INITIALIZED
  const fake::KernelCode kernel = KernelOf(*operation, *a, *b, *d);
  return cudaLaunchKernel(&kernel, {8, 1, 1}, {128, 1, 1}, nullptr, 0,
                          static_cast<cudaStream_t>(stream)) == cudaSuccess
             ? 0
             : 13;  // CUBLAS_STATUS_EXECUTION_FAILED
}
