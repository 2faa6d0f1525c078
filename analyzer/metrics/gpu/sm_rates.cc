// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/gpu/sm_rates.h"

#include <cstddef>

namespace traceinject {
namespace {

// A rate of 0: there is none, or none is established.
struct Rates {
  double fp32, tf32, fp16, fp8;  // bf16 as fp16, but for 7.x, which has none
};
struct Row {
  int cc_major, cc_minor;
  Rates professional, geforce;
};
constexpr Row kRows[] = {
    {7, 0, {128, 0, 1024, 0}, {128, 0, 1024, 0}},
    {7, 5, {128, 0, 1024, 0}, {128, 0, 0, 0}},
    {8, 0, {128, 1024, 2048, 0}, {0, 0, 0, 0}},
    {8, 6, {256, 512, 1024, 0}, {256, 256, 512, 0}},
    {8, 9, {256, 512, 1024, 2048}, {256, 256, 512, 1024}},
    {9, 0, {256, 2048, 4096, 8192}, {0, 0, 0, 0}},
    {10, 0, {256, 4096, 8192, 16384}, {0, 0, 0, 0}},
    {12, 0, {256, 512, 1024, 2048}, {256, 256, 512, 1024}},
};

double RateOf(const Rates& rates, int cc_major, PeakDtype dtype) {
  switch (dtype) {
    case PeakDtype::kFp32:
      return rates.fp32;
    case PeakDtype::kTf32:
      return rates.tf32;
    case PeakDtype::kFp16:
      return rates.fp16;
    case PeakDtype::kBf16:
      return cc_major >= 8 ? rates.fp16 : 0;
    case PeakDtype::kFp8:
      return rates.fp8;
  }
  return 0;
}

// Of the highest clock: cards' published rates rest on a clock within these of it.
constexpr double kMinOfHighest = 0.7, kMaxOfHighest = 1.02;

}  // namespace

std::optional<double> FlopsPerSmClock(int cc_major, int cc_minor, bool is_geforce,
                                      PeakDtype dtype) {
  for (const Row& row : kRows) {
    if (row.cc_major != cc_major || row.cc_minor != cc_minor) continue;
    const double rate = RateOf(is_geforce ? row.geforce : row.professional, cc_major, dtype);
    return rate > 0 ? std::optional<double>(rate) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<double> RatedSmClockMhz(const Device& device, PeakDtype dtype) {
  const GpuSpec* spec = FindGpuSpec(device.name);
  if (spec == nullptr || !device.cc_major || !device.cc_minor || device.sm_count.value_or(0) <= 0 ||
      device.sm_clock_khz.value_or(0) <= 0)
    return std::nullopt;
  const bool is_geforce = device.name.find("GeForce") != std::string::npos;
  const auto peak = PeakTflops(*spec, dtype);
  const auto rate = FlopsPerSmClock(*device.cc_major, *device.cc_minor, is_geforce, dtype);
  if (!peak || !rate) return std::nullopt;
  const double rated_mhz = *peak * 1e6 / (*device.sm_count * *rate);
  const double highest_mhz = *device.sm_clock_khz * 1e-3;
  if (rated_mhz < kMinOfHighest * highest_mhz || rated_mhz > kMaxOfHighest * highest_mhz)
    return std::nullopt;
  return rated_mhz;
}

}  // namespace traceinject
