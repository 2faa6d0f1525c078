// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/reported_device.h"

#include <algorithm>

namespace traceinject {

const Device* DeviceOf(const Run& run, const proto::DeviceReport& reported) {
  const std::vector<Device>& devices =
      run.ranks[static_cast<std::size_t>(reported.source())].devices;
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const Device& known) {
    return known.ordinal == reported.ordinal() && known.ops.size() > 0;
  });
  return found == devices.end() ? nullptr : &*found;
}

}  // namespace traceinject
