// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/gpu/gpu_specs.h"

#include <fmt/format.h>

#include <array>

#include "analyzer/common/text.h"

namespace traceinject {
namespace {

// clang-format off
// First match wins. Values as published for the whole card, read on the pages named in the last column (August 2026); for
// GeForce cards the matrix rate is that with FP32 accumulation, which is what training uses. Names not listed (laptop
// parts, power-limited and export variants) differ in rate and get no peak.
constexpr GpuSpec kSpecs[] = {
    // pattern                 title                 fp32   tf32    fp16    bf16    fp8   GB/s  NVLink reached: 16 bit, fp8; source
    {"V100-SXM2-*",            "V100 SXM2",          15.7,     0,    125,      0,     0,   900,   150,     0,     0, "V100 datasheet"},
    {"V100-SXM3-*",            "V100 SXM3",          15.7,     0,    125,      0,     0,   900,   150,     0,     0, "V100 datasheet"},
    {"V100-PCIE-*",            "V100 PCIe",          14.0,     0,    112,      0,     0,   900,     0,     0,     0, "V100 datasheet"},
    {"V100S-PCIE-*",           "V100S PCIe",         16.4,     0,    130,      0,     0,     0,     0,     0,     0, "V100S datasheet"},
    {"T4",                     "T4",                  8.1,     0,     65,      0,     0,   320,     0,     0,     0, "T4 datasheet; memory bandwidth: 300 or 320, sources disagree"},
    {"A100-SXM4-40GB",         "A100 SXM 40GB",      19.5,   156,    312,    312,     0,  1555,   300, 0.869,     0, "NVIDIA A100 page"},
    {"A100-SXM4-80GB",         "A100 SXM 80GB",      19.5,   156,    312,    312,     0,  2039,   300, 0.869,     0, "NVIDIA A100 page"},
    {"A100-PCIE-40GB",         "A100 PCIe 40GB",     19.5,   156,    312,    312,     0,  1555,     0, 0.811,     0, "NVIDIA A100 page"},
    {"A100 80GB PCIe",         "A100 PCIe 80GB",     19.5,   156,    312,    312,     0,  1940,     0, 0.811,     0, "NVIDIA A100 page"},
    {"A800-SXM4-80GB",         "A800 SXM",           19.5,   156,    312,    312,     0,  2039,   200,     0,     0, "as A100, NVLink limited"},
    {"A800 80GB PCIe",         "A800 PCIe",          19.5,   156,    312,    312,     0,  1940,     0,     0,     0, "as A100"},
    {"A10",                    "A10",                31.2,  62.5,    125,    125,     0,   600,     0,     0,     0, "A10 datasheet"},
    {"A10G",                   "A10G",                  0,     0,      0,      0,     0,   600,     0,     0,     0, "published matrix rates disagree (70 to 125 TFLOPS)"},
    {"A40",                    "A40",                37.4,     0,  149.7,  149.7,     0,   696,     0,     0,     0, "computed from SMs and clock"},
    {"RTX A6000",              "RTX A6000",          38.7,     0,  154.8,  154.8,     0,   768,     0,     0,     0, "computed from SMs and clock"},
    {"GeForce RTX 3090",       "GeForce RTX 3090",   35.6,  35.6,     71,     71,     0,   936,     0,     0,     0, "GA102 whitepaper; FP32 accumulation"},
    {"L4",                     "L4",                    0,     0,    121,    121,   242,   300,     0,     0,     0, "L4 datasheet"},
    {"L40S",                   "L40S",               91.6,   183,    362,    362,   733,   864,     0,     0,     0, "NVIDIA L40S page"},
    {"RTX 6000 Ada Generation","RTX 6000 Ada",       91.1,   182,    364,    364,   728,     0,     0,     0,     0, "RTX 6000 Ada datasheet"},
    {"GeForce RTX 4090",       "GeForce RTX 4090",   82.6,  82.6,  165.2,  165.2,   330,  1008,     0,     0,     0, "AD102 whitepaper; FP32 accumulation"},
    {"H100 80GB HBM3",         "H100 SXM",             67, 494.5,    989,    989,  1979,  3350,   450, 0.803, 0.709, "NVIDIA H100 page"},
    {"H100 PCIe",              "H100 PCIe",            51,   378,    756,    756,  1513,  2000,     0,     0,     0, "NVIDIA H100 page"},
    {"H100 NVL",               "H100 NVL",              0,   417,    835,    835,  1670,  3900,     0,     0,     0, "NVIDIA H100 page, one card of the pair"},
    {"H200",                   "H200 SXM",             67, 494.5,    989,    989,  1979,  4800,   450,     0, 0.734, "NVIDIA H200 page"},
    {"H200 NVL",               "H200 NVL",              0,     0,    836,    836,     0,  4800,     0,     0,     0, "H200 NVL datasheet"},
    {"H800",                   "H800 SXM",             67, 494.5,    989,    989,  1979,  3350,   200,     0,     0, "as H100 SXM, NVLink limited; some tables give the PCIe rate"},
    {"H20",                    "H20",                  44,    74,    148,    148,   296,  4000,   450,     0,     0, "H20 datasheet"},
    {"GH200*",                 "GH200",                67, 494.5,    989,    989,  1979,     0,   450, 0.838,     0, "NVIDIA GH200 page"},
    {"B200",                   "B200",                  0,  1125,   2250,   2250,  4500,  8000,   900, 0.776, 0.763, "DGX B200 datasheet"},
    {"B300*",                  "B300",                  0,  1125,   2250,   2250,  4500,  8000,   900, 0.786,     0, "B300 datasheet; other sources differ"},
    {"GB200",                  "GB200",                80,  1250,   2500,   2500,  5000,  8000,   900, 0.729,     0, "GB200 NVL72 page, per GPU; others print 2250 for bf16"},
    {"GB300",                  "GB300",                80,  1250,   2500,   2500,  5000,  8000,   900,     0,     0, "GB300 NVL72 page, per GPU"},
    {"GeForce RTX 5090",       "GeForce RTX 5090",  104.8, 104.8,  209.5,  209.5,   419,  1792,     0,     0,     0, "RTX Blackwell whitepaper; FP32 accumulation"},
    {"RTX PRO 6000 Blackwell Server Edition",
                               "RTX PRO 6000 Blackwell", 126, 251.9, 503.8, 503.8, 1007,     0,     0,     0,     0, "computed from SMs and clock"},
    {"RTX PRO 6000 Blackwell Workstation Edition",
                               "RTX PRO 6000 Blackwell", 126, 251.9, 503.8, 503.8, 1007,  1792,     0,     0,     0, "computed from SMs and clock"},
};
// clang-format on

// clang-format off
constexpr SmLimits kSmLimits[] = {
    // CC   threads blocks  shared      reserved unit
    {7, 0,   2048,   32,     96 * 1024,     0,    256},
    {7, 5,   1024,   16,     64 * 1024,     0,    256},
    {8, 0,   2048,   32,    164 * 1024,  1024,    128},
    {8, 6,   1536,   16,    100 * 1024,  1024,    128},
    {8, 9,   1536,   24,    100 * 1024,  1024,    128},
    {9, 0,   2048,   32,    228 * 1024,  1024,    128},
    {10, 0,  2048,   32,    228 * 1024,  1024,    128},
    {10, 3,  2048,   32,    228 * 1024,  1024,    128},
    {12, 0,  1536,   24,    100 * 1024,  1024,    128},
};
// clang-format on

constexpr std::array<std::string_view, 5> kDtypeNames = {"bf16", "fp16", "tf32", "fp8", "fp32"};

void RemovePrefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) == prefix) text.remove_prefix(prefix.size());
}

}  // namespace

std::string_view PeakDtypeName(PeakDtype dtype) {
  return kDtypeNames[static_cast<std::size_t>(dtype)];
}

std::optional<PeakDtype> PeakDtypeFromName(std::string_view name) {
  for (std::size_t i = 0; i < kDtypeNames.size(); ++i) {
    if (kDtypeNames[i] == name) return static_cast<PeakDtype>(i);
  }
  return std::nullopt;
}

const GpuSpec* FindGpuSpec(std::string_view device_name) {
  if (device_name.find(" MIG ") != std::string_view::npos) return nullptr;
  RemovePrefix(device_name, "NVIDIA ");
  RemovePrefix(device_name, "Tesla ");
  for (const GpuSpec& spec : kSpecs) {
    if (MatchesGlob(device_name, spec.pattern)) return &spec;
  }
  return nullptr;
}

std::string UnknownPeakText(std::string_view device_name) {
  if (device_name.empty()) return "the model of the GPU is not known";
  return fmt::format("the peak rate of '{}' is not known", device_name);
}

std::optional<double> PeakTflops(const GpuSpec& spec, PeakDtype dtype) {
  double value = 0;
  switch (dtype) {
    case PeakDtype::kBf16:
      value = spec.bf16_tflops;
      break;
    case PeakDtype::kFp16:
      value = spec.fp16_tflops;
      break;
    case PeakDtype::kTf32:
      value = spec.tf32_tflops;
      break;
    case PeakDtype::kFp8:
      value = spec.fp8_tflops;
      break;
    case PeakDtype::kFp32:
      value = spec.fp32_tflops;
      break;
  }
  if (value == 0) return std::nullopt;
  return value;
}

double ReachedShare(const GpuSpec& spec, PeakDtype dtype) {
  const bool fp8 = dtype == PeakDtype::kFp8;
  const bool sixteen = dtype == PeakDtype::kBf16 || dtype == PeakDtype::kFp16;
  if (fp8) return spec.reached_fp8 > 0 ? spec.reached_fp8 : 0.72;
  return sixteen && spec.reached_16bit > 0 ? spec.reached_16bit : 0.80;
}

const SmLimits* FindSmLimits(int cc_major, int cc_minor) {
  for (const SmLimits& limits : kSmLimits) {
    if (limits.cc_major == cc_major && limits.cc_minor == cc_minor) return &limits;
  }
  return nullptr;
}

}  // namespace traceinject
