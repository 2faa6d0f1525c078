// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/terminal.h"

#include <sys/ioctl.h>

namespace traceinject {

std::optional<std::size_t> TerminalColumns(int descriptor) {
  struct winsize size = {};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

}  // namespace traceinject
