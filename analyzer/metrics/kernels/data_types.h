// SPDX-License-Identifier: Apache-2.0
// Types of matrices, as cuBLAS and the recordings number them (cudaDataType of library_types.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/metrics/gpu/gpu_specs.h"

namespace traceinject {

struct DataType {
  int cuda_type;
  std::string_view name;
  double bytes;  // of one number
  // The rate that products of such matrices are limited by. Empty for fp32, of which the type does
  // not tell (TF32 or not), and for types without a rate in the table of GPUs.
  std::optional<PeakDtype> rate = std::nullopt;
  bool complex = false;
};

// Null: not in the table, or unknown.
const DataType* FindDataType(int cuda_type);

// "bf16", "unknown" for -1, "type 99" for one that is not in the table.
std::string DataTypeName(int cuda_type);

}  // namespace traceinject
