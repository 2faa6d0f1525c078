// SPDX-License-Identifier: Apache-2.0
// Facts about the machine that decide how fast it can be, from /proc and /sys: what cannot be read
// is stored as unknown, with the reason.
#pragma once

#include <string>
#include <vector>

#include "machine/rows.h"

namespace traceinject {

// `root` stands before /proc and /sys: empty, or a folder of a test. Up to a few milliseconds.
std::vector<SystemFactRow> ReadHostFacts(const std::string& root);

// What /sys knows of a device: the part of the machine that it is at, and what stands between it
// and its peers.
std::vector<SystemFactRow> ReadGpuPlaceFacts(const std::string& root, const DeviceRow& device);

}  // namespace traceinject
