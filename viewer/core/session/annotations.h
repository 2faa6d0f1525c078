// SPDX-License-Identifier: Apache-2.0
// Marks that the user puts on the timeline: a moment or a range, with a text and a color.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "analyzer/model/run.h"
#include "analyzer/view/style/palette.h"

namespace traceinject {

struct Mark {
  TimeNs start = 0, end = 0;  // start <= end; equal: a moment
  std::string text;           // printable UTF-8, at most kMaxMarkTextBytes
  Rgba color = 0;
  bool operator==(const Mark&) const = default;
};

inline constexpr std::size_t kMaxMarkTextBytes = 500;
inline constexpr std::size_t kMaxMarks = 10'000;

// Colors to choose from.
std::span<const Rgba> MarkColors();

// A time on another base; unchanged where that would leave the range of numbers.
TimeNs Rebased(TimeNs time, std::int64_t by_ns);

class Annotations {
 public:
  // `base_ns` as in Run.
  Annotations(std::vector<Mark> marks, std::int64_t base_ns);

  // By start, then by end.
  const std::vector<Mark>& marks() const { return marks_; }
  std::int64_t base_ns() const { return base_ns_; }

  // Ranks that joined the run may have moved the time that 0 stands for.
  void SetBase(std::int64_t base_ns);

  // They return where the mark is now; times are put in order, text is made printable.
  std::size_t Add(Mark mark);
  std::size_t Change(std::size_t index, Mark mark);
  void Remove(std::size_t index);

 private:
  std::vector<Mark> marks_;
  std::int64_t base_ns_;
};

}  // namespace traceinject
