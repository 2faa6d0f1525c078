// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

namespace traceinject {

// Of the terminal on a file descriptor, at this moment: its user may change it. Empty: there is no
// terminal, or it does not report.
std::optional<std::size_t> TerminalColumns(int descriptor);

// By the variable COLUMNS, which shells and pagers set; empty: it is not set, or no number.
std::optional<std::size_t> ColumnsAskedFor();

}  // namespace traceinject
