// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "analyzer/commands/shared/terminal.h"
#include "analyzer/common/units.h"

namespace traceinject {

ProgressBar::ProgressBar(bool wanted) : active_(wanted && isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  // To the start of the line, erase to its end (ECMA-48).
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressBar::Show(const LoadProgress& progress) {
  if (!active_) return;
  constexpr std::size_t kUsualColumns = 80;
  const std::size_t columns = TerminalColumns(STDERR_FILENO).value_or(kUsualColumns);
  fmt::print(stderr, "\r{}\x1b[K", ProgressLine(progress, columns));
  std::fflush(stderr);
  drawn_ = true;
}

std::string ProgressLine(const LoadProgress& progress, std::size_t columns) {
  constexpr std::size_t kWidth = 30;
  const auto filled = static_cast<std::size_t>(progress.share * kWidth);
  const std::string numbers =
      fmt::format("{:.0f} %  {} of {} files, {} rows", progress.share * 100, progress.files_done,
                  progress.files, FormatCount(static_cast<std::int64_t>(progress.rows)));
  std::string line = fmt::format("reading  [{}{}]  {}", std::string(filled, '#'),
                                 std::string(kWidth - filled, '.'), numbers);
  if (line.size() >= columns) line = "reading  " + numbers;
  // The last column stays free: terminals differ in what they do after it.
  if (line.size() >= columns) line.resize(columns > 0 ? columns - 1 : 0);
  return line;
}

}  // namespace traceinject
