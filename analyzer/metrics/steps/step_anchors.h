// SPDX-License-Identifier: Apache-2.0
// What comes back once in each period of a sequence: candidates for the steps of a training run.
//
// A token that occurs once a step does so at a steady distance, counted in launches, however long
// each of them takes. Tokens that follow each other closely count once (a burst). All tokens with
// the same number of bursts that take turns with each other vote for that number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/metrics/steps/launch_sequence.h"

namespace traceinject {

// A token with its bursts.
struct Anchor {
  std::uint32_t token = 0;
  bool by_shape = false;          // of LaunchSequence::shapes, else of ::names
  std::vector<std::uint32_t> at;  // first element of each burst
  // How the distances vary, without the extreme ones: standard deviation / mean.
  double variation = 0;
  double unevenness = 0;  // mean distance / median: how much lies outside of a regular rhythm
};

// A number of periods, and what speaks for it.
struct PeriodCandidate {
  std::vector<Anchor> anchors;  // the steadiest first; all take turns with it. At most 64
  std::size_t support = 0;      // anchors, and those that were too many
  // Of neighboring periods, the share of one that is found in the other, whatever the order: the
  // smaller of the two counts whole, and what is rare counts more. 0 to 1; mean over a sample.
  double name_match = 0, shape_match = 0;

  std::size_t count() const { return anchors.front().at.size(); }
  double length() const {  // mean, in elements
    const std::vector<std::uint32_t>& at = anchors.front().at;
    return static_cast<double>(at.back() - at.front()) / static_cast<double>(at.size() - 1);
  }
};

// Those with at least three periods, over at least half of the sequence, the most numerous first.
// O(elements).
std::vector<PeriodCandidate> FindPeriods(const LaunchSequence& sequence);

// At most `most` of the numbers below `pairs`, from all over them and yet in runs of neighbors, so
// that what happens every so often is seen as often as it happens.
std::vector<std::size_t> SampleOf(std::size_t pairs, std::size_t most);

// Whether two numbers of periods differ by no more than the ends of a recording and a few lost
// records explain.
bool NearlyAsMany(std::size_t a, std::size_t b);

// How many of the sorted `positions` lie in [begin, end). O(log n).
std::size_t CountIn(std::span<const std::uint32_t> positions, std::size_t begin, std::size_t end);

}  // namespace traceinject
