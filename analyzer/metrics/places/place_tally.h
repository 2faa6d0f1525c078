// SPDX-License-Identifier: Apache-2.0
// Time divided over places in the code.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/metrics/places/looks.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Part of a time that is at a place, with the 95 % interval: of what was measured none, of what was
// sampled that of a share of looks (Wilson), of as many as are known to be in that time.
struct PlaceTime {
  CodeSite site;
  double ns = 0, low_ns = 0, high_ns = 0;
  std::int64_t looks = 0;  // known to be there
  // How the time is divided over the stacks that it was seen on: parts of it, in proportion.
  std::map<std::uint32_t, double> stacks = {};
};

struct TimeByPlace {
  TimeNs total_ns = 0;
  TimeNs unknown_ns = 0;  // of that, where nobody looked
  std::int64_t looks = 0;
  std::vector<PlaceTime> places;  // the longest first

  // Of the total, what these places at the head have.
  double share_of_first(std::size_t count) const;
};

// Of several causes together. O(places log places).
TimeByPlace SumOf(std::span<const TimeByPlace* const> parts);

// A share of `all` looks, with the 95 % interval.
struct ShareBounds {
  double share = 0, low = 0, high = 1;
};
ShareBounds BoundsOfShare(double share, std::int64_t all);

class PlaceTally {
 public:
  // Time whose place is known.
  void AddExact(const CodeSite& site, TimeNs ns);
  // Time that the looks divide, and a look in it.
  void AddTime(TimeNs ns) { sampled_ns_ += ns; }
  void AddLooks(const CodeSite& site, const LooksIn& looks);

  // O(places log places).
  TimeByPlace Finish() const;

 private:
  struct Found {
    CodeSite site;
    TimeNs exact_ns = 0;
    double looks = 0;
    std::int64_t known = 0;
    std::map<std::uint32_t, double> libraries, stacks;  // by place and by stack, how much
  };
  // That so much was found at.
  Found& At(const CodeSite& site, double weight);

  std::map<SiteKey, Found> found_;
  TimeNs sampled_ns_ = 0, exact_ns_ = 0;
  double looks_ = 0;
  std::int64_t known_ = 0;
};

}  // namespace traceinject
