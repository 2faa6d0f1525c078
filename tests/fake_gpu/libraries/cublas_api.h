// SPDX-License-Identifier: Apache-2.0
// What the stand-ins of cuBLAS and cuBLASLt and the program that calls them agree on: here the
// opaque descriptors of cuBLASLt are plain structures.
#pragma once

#include <cstdint>

namespace traceinject::fake {

struct LtLayout {
  std::uint32_t type = 0;  // cudaDataType
  std::uint64_t rows = 0, columns = 0;
  std::int32_t batch = 1;
};

struct LtOperation {
  std::int32_t compute_type = 68, trans_a = 0, trans_b = 0;
};

}  // namespace traceinject::fake
