// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/sections/sections.h"

#include <algorithm>

namespace traceinject {

const proto::DeviceSteps* JudgedSteps(const proto::Report& report) {
  const auto& steps = report.steps();
  const auto judged = std::find_if(steps.begin(), steps.end(), [&](const proto::DeviceSteps& one) {
    return one.label() == report.verdict().device();
  });
  if (judged != steps.end()) return &*judged;
  return steps.empty() ? nullptr : &steps[0];
}

const proto::DeviceReport* JudgedDeviceReport(const proto::Report& report) {
  const auto& devices = report.devices();
  const auto judged = std::find_if(
      devices.begin(), devices.end(),
      [&](const proto::DeviceReport& one) { return one.label() == report.verdict().device(); });
  if (judged != devices.end()) return &*judged;
  return devices.empty() ? nullptr : &devices[0];
}

}  // namespace traceinject
