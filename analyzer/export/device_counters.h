// SPDX-License-Identifier: Apache-2.0
// What was sampled of a device, as figures over time. One table for all formats.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "analyzer/model/run.h"

namespace traceinject {

struct DeviceCounter {
  std::string_view name, unit;
  // Rows of its table, and the time and value of one; a negative value: not known.
  std::size_t (*rows)(const Device& device);
  TimeNs (*time)(const Device& device, std::size_t row);
  std::int64_t (*value)(const Device& device, std::size_t row);
  double scale;  // to the unit: 1 where values are whole
};

std::span<const DeviceCounter> DeviceCounters();

}  // namespace traceinject
