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
  double nvlink_gb_per_s;  // per GPU in one direction
  // Measured: what share of the dense peak the best GEMMs of 16 bits and of fp8 reach
  // (mamf-finder of stas00/ml-engineering, compute/accelerator). 0: not measured on this GPU.
  double reached_16bit, reached_fp8;
  std::string_view source;  // where the values were read, and what is disputed
};

// The row for a device name such as "NVIDIA H100 80GB HBM3". Null for a GPU that is not in the
// table, and for a part of a GPU (MIG), which has no peak of its own. O(rows).
const GpuSpec* FindGpuSpec(std::string_view device_name);

// Share of the dense peak that good GEMMs reach: measured on the GPU, or 80 % (fp8 72 %)
// as on its like.
double ReachedShare(const GpuSpec& spec, PeakDtype dtype);
// Why there is no peak rate of a GPU without a row in the table: "the peak rate of 'X' is not
// known".
std::string UnknownPeakText(std::string_view device_name);

// Share of the published memory bandwidth that good kernels reach: an assumption, 85 %.
inline constexpr double kReachedMemoryShare = 0.85;

// What a streaming multiprocessor (SM) holds at a time, by compute capability; from the table of
// technical specifications in the appendix "Compute Capabilities" of NVIDIA's CUDA programming
// guide.
struct SmLimits {
  int cc_major, cc_minor;
  int threads, blocks;
  std::int64_t shared_bytes;
  std::int64_t reserved_shared_bytes;  // of each block, by the system
  std::int64_t shared_unit_bytes;      // what a block gets is a multiple of
};

// Null: not in the table. O(rows).
const SmLimits* FindSmLimits(int cc_major, int cc_minor);

// The same on all of them.
inline constexpr int kSmRegisters = 65536;
inline constexpr int kRegisterUnit = 256;  // what a warp gets is a multiple of
inline constexpr int kSmQuarters = 4;      // registers belong to a quarter, as do its warps
inline constexpr int kWarpThreads = 32;

// Empty if the GPU has no such rate or none is established.
std::optional<double> PeakTflops(const GpuSpec& spec, PeakDtype dtype);

}  // namespace traceinject
