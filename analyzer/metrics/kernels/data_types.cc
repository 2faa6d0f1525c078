// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/data_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace traceinject {
namespace {

constexpr std::array<DataType, 13> kTypes = {{
    {0, "fp32", 4},
    {1, "fp64", 8},
    {2, "fp16", 2, PeakDtype::kFp16},
    {3, "int8", 1},
    {4, "complex fp32", 8, std::nullopt, true},
    {5, "complex fp64", 16, std::nullopt, true},
    {6, "complex fp16", 4, std::nullopt, true},
    {10, "int32", 4},
    {14, "bf16", 2, PeakDtype::kBf16},
    {15, "complex bf16", 4, std::nullopt, true},
    {28, "fp8 e4m3", 1, PeakDtype::kFp8},
    {29, "fp8 e5m2", 1, PeakDtype::kFp8},
    {33, "fp4 e2m1", 0.5},
}};

}  // namespace

const DataType* FindDataType(int cuda_type) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const DataType& type) {
    return type.cuda_type == cuda_type;
  });
  return found == kTypes.end() ? nullptr : &*found;
}

std::string DataTypeName(int cuda_type) {
  if (cuda_type < 0) return "unknown";
  if (const DataType* type = FindDataType(cuda_type)) return std::string(type->name);
  return fmt::format("type {}", cuda_type);
}

}  // namespace traceinject
