// SPDX-License-Identifier: Apache-2.0
// Marks that the user puts on the timeline: a moment or a range, with a text and a colour. They are
// kept in a file of their own beside the recording, which is never written to.
//
// The file is JSON, with times since the epoch, so that it fits whichever files of the run are read
// together:
//   {"format": "traceview marks", "version": 1, "marks": [
//    {"start_unix_ns": 1700000000001000000, "end_unix_ns": 1700000000001000000,
//     "text": "slow step", "colour": "#ffb74d"}]}
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/model/run.h"
#include "viewer/core/palette.h"

namespace traceinject {

struct Mark {
  TimeNs start = 0, end = 0;  // start <= end; equal: a moment
  std::string text;           // printable UTF-8, at most kMostMarkTextBytes
  Rgba colour = 0;
  bool operator==(const Mark&) const = default;
};

inline constexpr std::size_t kMostMarkTextBytes = 500;
inline constexpr std::size_t kMostMarks = 10'000;

// Colours to choose from.
std::span<const Rgba> MarkColours();

// "run.db.marks.json" beside the first file of the run; empty for a run without files.
std::string MarksPath(const Run& run);

class Annotations {
 public:
  // Reads the file if there is one. An empty path: nothing is read or saved. `base_ns` as in Run.
  Annotations(std::string path, std::int64_t base_ns);

  // By start, then by end.
  const std::vector<Mark>& marks() const { return marks_; }
  // Why the file was not read, or not written the last time; empty if all is well. A file that was
  // not understood is never written over.
  const std::string& problem() const { return problem_; }

  // Ranks that joined the run may have moved the time that 0 stands for.
  void SetBase(std::int64_t base_ns);

  // Each saves. They return where the mark is now; times are put in order, text is made printable.
  std::size_t Add(Mark mark);
  std::size_t Change(std::size_t index, Mark mark);
  void Remove(std::size_t index);

 private:
  std::size_t Insert(Mark mark);
  void Save();

  std::string path_;
  std::int64_t base_ns_;
  std::vector<Mark> marks_;
  std::string problem_;
  bool may_write_ = true;
};

}  // namespace traceinject
