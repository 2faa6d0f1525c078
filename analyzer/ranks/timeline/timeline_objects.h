// SPDX-License-Identifier: Apache-2.0
// The objects of a file that holds one behind the other: a line each (NDJSON), or as a JSON list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/import/source/gzip_source.h"

namespace traceinject {

struct TimelineObject {
  std::string_view text;   // readable for kPadding bytes beyond its end
  std::uint64_t line = 0;  // on which it begins, from 1
};

// Only brackets and strings are looked at: whether an object is valid is for its reader to see.
// Memory: the longest object, kLongest bytes at most.
class TimelineObjects {
 public:
  static constexpr std::size_t kPadding = 64, kLongest = std::size_t{1} << 20;

  explicit TimelineObjects(GzipSource& source) : source_(source) {}

  // The next one, valid until the next call; empty at the end. Errors name the line.
  Result<std::optional<TimelineObject>> Next();

 private:
  // Moves to the next object. False: there is none.
  Result<bool> FindObject();
  // Appends more of the file. False at its end.
  Result<bool> Fill();
  // From begin_ to behind the closing brace.
  Result<std::size_t> MeasureObject();
  Error Broken(std::string_view what) const;

  GzipSource& source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what is read and not consumed
  std::uint64_t line_ = 1;
  bool in_list_ = false, ended_ = false;
};

}  // namespace traceinject
