// SPDX-License-Identifier: Apache-2.0
// Which line of the source an instruction of a code object belongs to: CPython's line tables, as
// its Objects/lnotab_notes.txt (up to 3.10) and Objects/locations.md (since 3.11) describe them.
#pragma once

#include <cstdint>
#include <string_view>

#include "injector/stacks/python_layout.h"

namespace traceinject {

// `offset`: of the instruction in its code, in bytes. 0: it has none, or the table is no table.
// O(table).
std::int64_t LineOfInstruction(PythonLayout::Lines form, std::string_view table,
                               std::int64_t first_line, std::int64_t offset);

}  // namespace traceinject
