// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/status_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace traceinject {
namespace {

constexpr std::size_t kMinRows = 3;

// At once, so that the other program writes before or after it, not within.
void Write(const std::string& text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

StatusLine::StatusLine(bool wanted) : active_(wanted && isatty(STDERR_FILENO) == 1) {}

// The scrolling region (DECSTBM) is all but the last line. Setting it moves the cursor, which is
// therefore kept and put back (DECSC, DECRC).
bool StatusLine::Reserve() {
  struct winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < kMinRows) return false;
  if (size.ws_row == rows_) return true;
  rows_ = size.ws_row;
  // Where the cursor is in the last line, what is above moves up by one.
  Write(
      fmt::format("\n\x1b[A\x1b"
                  "7\x1b[1;{}r\x1b"
                  "8",
                  rows_ - 1));
  return true;
}

void StatusLine::Show(const std::string& text) {
  struct winsize size = {};
  if (!active_ || !Reserve() || ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0) return;
  // The last column stays free: terminals differ in what they do after it.
  const std::size_t most = size.ws_col > 1 ? size.ws_col - 1u : 0;
  Write(
      fmt::format("\x1b"
                  "7\x1b[{};1H\x1b[2K{}\x1b"
                  "8",
                  rows_, text.substr(0, most)));
}

void StatusLine::Release() {
  if (rows_ == 0) return;
  Write(
      fmt::format("\x1b"
                  "7\x1b[r\x1b[{};1H\x1b[2K\x1b"
                  "8",
                  rows_));
  rows_ = 0;
}

}  // namespace traceinject
