// SPDX-License-Identifier: Apache-2.0
// Shapes of matrix products, for tests.
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

inline constexpr int kBf16Type = 14, kCompute32 = 68;  // cudaDataType, cublasComputeType

inline GemmShape Product(std::int64_t m, std::int64_t n, std::int64_t k, int type = kBf16Type,
                         int compute_type = kCompute32) {
  GemmShape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  shape.batch = 1;
  shape.type_a = shape.type_b = shape.type_c = type;
  shape.compute_type = compute_type;
  return shape;
}

}  // namespace traceinject
