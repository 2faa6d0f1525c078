// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/terminal.h"

#include <sys/ioctl.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace traceinject {

std::optional<std::size_t> TerminalColumns(int descriptor) {
  struct winsize size = {};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

std::optional<std::size_t> ColumnsAskedFor() {
  const char* const text = std::getenv("COLUMNS");
  if (text == nullptr) return std::nullopt;
  const std::string_view all = text;
  std::size_t columns = 0;
  const auto [end, code] = std::from_chars(all.data(), all.data() + all.size(), columns);
  if (code != std::errc() || end != all.data() + all.size() || columns == 0) return std::nullopt;
  return columns;
}

}  // namespace traceinject
