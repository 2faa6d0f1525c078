// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/metrics/places/place_tally.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

// By correlation id, of the calls whose own stack was taken. O(samples).
std::unordered_map<std::uint64_t, std::uint32_t> StacksOfLaunches(const Rank& rank);

// Time of the device's operations that begin in these times, by the line that launched them. Only a
// share of launches has a stack: the time of all operations of one shape, of one thread, is divided
// like that of those that have; where none has, like the stacks of the main thread (kNone: there is
// none) nearest to the launches. O(operations log shapes + samples).
TimeByPlace KernelTimeByPlace(const Rank& rank, const Device& device, std::uint32_t main,
                              const CodeSites& sites, const Intervals& times);

}  // namespace traceinject
