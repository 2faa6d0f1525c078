// SPDX-License-Identifier: Apache-2.0
// GEMMs of a program that calls cuBLAS through a library of its own, as PyTorch does.
#pragma once

#include <cuda_runtime_api.h>

namespace traceinject::fake {

class TrainProducts {
 public:
  // Loads that library (gemm_user.cc), which lies beside the program.
  TrainProducts();

  // One of 4095 x 8192 x 8192 numbers in BF16, whose rows are no multiple of 16 bytes.
  void Multiply(cudaStream_t stream) const;

 private:
  int (*run_)(int m, int n, int k, void* stream);
};

}  // namespace traceinject::fake
