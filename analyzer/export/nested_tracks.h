// SPDX-License-Identifier: Apache-2.0
// Slices that may overlap in any way, put on tracks on which they nest.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

class NestedTracks {
 public:
  // Slices on more tracks than this at once are left out.
  static constexpr std::size_t kMax = 64;

  // `may_nest`: a slice may lie within another of its track; else none do.
  explicit NestedTracks(bool may_nest) : may_nest_(may_nest) {}

  // The track of a slice: the first on which it nests. Slices come by start, of those that start
  // together the longest first. Calls end(track, time) for slices that are over by then, in the
  // order of their track. Empty: there is no room left. O(tracks).
  template <typename End>
  std::optional<std::size_t> Place(TimeNs start, TimeNs finish, End end) {
    for (std::size_t track = 0; track < open_.size(); ++track) {
      EndBefore(track, start, end);
      std::vector<TimeNs>& open = open_[track];
      if (!open.empty() && (!may_nest_ || open.back() < finish)) continue;
      open.push_back(finish);
      return track;
    }
    if (open_.size() == kMax) return std::nullopt;
    open_.emplace_back().push_back(finish);
    return open_.size() - 1;
  }

  // The same for a mark, which takes no time.
  template <typename End>
  std::size_t PlaceMark(TimeNs time, End end) {
    if (open_.empty()) open_.emplace_back();
    EndBefore(0, time, end);
    return 0;
  }

  // Ends what is open.
  template <typename End>
  void Finish(End end) {
    for (std::size_t track = 0; track < open_.size(); ++track) {
      for (; !open_[track].empty(); open_[track].pop_back()) end(track, open_[track].back());
    }
  }

 private:
  template <typename End>
  void EndBefore(std::size_t track, TimeNs time, End end) {
    std::vector<TimeNs>& open = open_[track];
    for (; !open.empty() && open.back() <= time; open.pop_back()) end(track, open.back());
  }

  bool may_nest_;
  std::vector<std::vector<TimeNs>> open_;  // ends by track, the innermost last
};

}  // namespace traceinject
