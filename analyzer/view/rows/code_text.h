// SPDX-License-Identifier: Apache-2.0
// Words about the events of rows that are of Python code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/view/rows/rows.h"

namespace traceinject {

// Index into Rank::places; kNone: of another kind of row.
std::uint32_t PlaceOf(const Run& run, const RowModel& model, const EventRef& ref);

// "/home/me/train.py:41", as the program named it. Printable.
std::string FileAndLine(const Rank& rank, std::uint32_t place);

// "662 (python)".
std::string ThreadText(const Thread& thread);

// What the tooltip says of an event of code beside its name and time: where, of which thread, how
// often it was seen.
std::vector<std::string> CodeTooltip(const Run& run, const RowModel& model, const EventRef& ref);

// "in 57 of 665 samples of the thread (8.6 %)"; of a row of lines those at which the place was the
// innermost one of the program.
std::string LooksText(const RowModel& model, const Row& row, std::uint32_t place);

}  // namespace traceinject
