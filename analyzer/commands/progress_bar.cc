// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "analyzer/common/units.h"

namespace traceinject {

ProgressBar::ProgressBar(bool wanted) : active_(wanted && isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  // To the start of the line, erase to its end (ECMA-48).
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressBar::Show(const LoadProgress& progress) {
  if (!active_) return;
  fmt::print(stderr, "\r{}\x1b[K", ProgressLine(progress));
  std::fflush(stderr);
  drawn_ = true;
}

std::string ProgressLine(const LoadProgress& progress) {
  constexpr std::size_t kWidth = 30;
  const auto filled = static_cast<std::size_t>(progress.share * kWidth);
  return fmt::format("reading  [{}{}]  {:.0f} %  {} of {} files, {} rows", std::string(filled, '#'),
                     std::string(kWidth - filled, '.'), progress.share * 100, progress.files_done,
                     progress.files, FormatCount(static_cast<std::int64_t>(progress.rows)));
}

}  // namespace traceinject
