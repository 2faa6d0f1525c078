// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/import/load/load_run.h"

namespace traceinject {

// One line on stderr that shows how far reading is, and disappears at the end. Silent unless stderr
// is a terminal.
class ProgressBar {
 public:
  explicit ProgressBar(bool wanted);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void Show(const LoadProgress& progress);

 private:
  bool active_;
  bool drawn_ = false;
};

// The line for a state, without control characters: "reading  [#####.....]  52 %  3 of 8 files,
// 1,234,567 rows". Shorter than `columns`, for a line that wraps cannot be drawn over.
std::string ProgressLine(const LoadProgress& progress, std::size_t columns);

}  // namespace traceinject
