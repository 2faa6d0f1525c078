// SPDX-License-Identifier: Apache-2.0
// What this process may use of the machine: in batch jobs and containers less than there is.
//
// `root` stands before /proc and /sys: empty, or a folder of a test.
#pragma once

#include <cstdint>
#include <string>

namespace traceinject {

// Those that the calling thread may run on, or as many as the quota of processor time lasts for,
// begun ones counted. At least one.
unsigned CountAvailableProcessors(const std::string& root = {});

// The machine's, or what the control groups leave of it. 0: unknown.
std::int64_t AvailableMemoryBytes(const std::string& root = {});

}  // namespace traceinject
