// SPDX-License-Identifier: Apache-2.0
#include "injector/counters/gpm_session.h"

#include <cmath>
#include <utility>

namespace traceinject {

bool GpmSession::Open() {
  if (nvml_.GpmQueryDeviceSupport == nullptr || nvml_.GpmSampleAlloc == nullptr ||
      nvml_.GpmSampleFree == nullptr || nvml_.GpmSampleGet == nullptr ||
      nvml_.GpmMetricsGet == nullptr || device_ == nullptr)
    return false;
  nvml::GpmSupport support{nvml::kGpmVersion, 0};
  if (nvml_.GpmQueryDeviceSupport(device_, &support) != nvml::kSuccess || support.is_supported == 0)
    return false;
  if (nvml_.GpmSampleAlloc(&before_) == nvml::kSuccess &&
      nvml_.GpmSampleAlloc(&after_) == nvml::kSuccess)
    return true;
  Close();
  return false;
}

std::optional<GpmSession::Taken> GpmSession::Take(std::int64_t (*now)(), bool* failed) {
  *failed = nvml_.GpmSampleGet(device_, after_) != nvml::kSuccess;
  if (*failed) return has_before_ = false, std::nullopt;
  const std::int64_t after_ns = now();
  Taken taken{before_ns_, after_ns, {}};
  const bool whole = has_before_ && after_ns > before_ns_;
  *failed = whole && !ReadMetrics(&taken.values);
  std::swap(before_, after_);
  before_ns_ = after_ns;
  has_before_ = true;
  return whole && !*failed ? std::optional(std::move(taken)) : std::nullopt;
}

bool GpmSession::ReadMetrics(std::vector<std::int64_t>* values) {
  nvml::GpmMetricsGet get{};
  get.version = nvml::kGpmVersion;
  get.before = before_;
  get.after = after_;
  for (const GpmMetric& metric : GpmMetrics()) get.metrics[get.count++].metric = metric.metric;
  if (nvml_.GpmMetricsGet(&get) != nvml::kSuccess) return false;
  for (unsigned int i = 0; i < get.count; ++i) {
    const double value = get.metrics[i].value * GpmMetrics()[i].scale;
    const bool told = get.metrics[i].result == nvml::kSuccess && value >= 0 && value < 1e12;
    values->push_back(told ? std::llround(value) : -1);
  }
  return true;
}

void GpmSession::Close() {
  for (nvml::GpmSample* sample : {&before_, &after_}) {
    if (*sample != nullptr) nvml_.GpmSampleFree(std::exchange(*sample, nullptr));
  }
}

}  // namespace traceinject
