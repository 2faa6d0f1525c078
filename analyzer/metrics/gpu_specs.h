// SPDX-License-Identifier: Apache-2.0
// Peak rates of GPUs, by the name the driver gives them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceinject {

// Input type of the matrix units; fp32 is the rate of the ordinary cores.
enum class PeakDtype : std::uint8_t { kBf16, kFp16, kTf32, kFp8, kFp32 };

// "bf16", "fp16", "tf32", "fp8", "fp32"; the inverse is empty for anything else.
std::string_view PeakDtypeName(PeakDtype dtype);
std::optional<PeakDtype> PeakDtypeFromName(std::string_view name);

// Dense rates (no sparsity). 0 in the table means: the GPU has no such rate, or none is
// established.
struct GpuSpec {
  std::string_view pattern;  // of the device name without "NVIDIA " or "Tesla ", with * and ?
  std::string_view title;
  double fp32_tflops, tf32_tflops, fp16_tflops, bf16_tflops, fp8_tflops;
  double memory_gb_per_s;
  double nvlink_gb_per_s;   // per GPU in one direction
  std::string_view source;  // where the values were read, and what is disputed
};

// The row for a device name such as "NVIDIA H100 80GB HBM3". Null for a GPU that is not in the
// table, and for a part of a GPU (MIG), which has no peak of its own. O(rows).
const GpuSpec* FindGpuSpec(std::string_view device_name);

// Empty if the GPU has no such rate or none is established.
std::optional<double> PeakTflops(const GpuSpec& spec, PeakDtype dtype);

}  // namespace traceinject
