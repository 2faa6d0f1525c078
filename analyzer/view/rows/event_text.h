// SPDX-License-Identifier: Apache-2.0
// What an event is called, and what is known of it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/view/rows/links.h"
#include "analyzer/view/rows/rows.h"

namespace traceinject {

// One line of the details panel: what, value.
using Detail = std::pair<std::string, std::string>;

// By CUpti_ActivityMemcpyKind: "host to device", ... "unknown" from kCopyDirections on.
inline constexpr unsigned kCopyDirections = 11;
std::string_view CopyDirectionName(std::uint8_t kind);
inline constexpr std::string_view kMemsetLabel = "memset";

// Name of the event, without arguments for kernels. The view lives as long as `run` and `model`.
std::string_view EventLabel(const Run& run, const RowModel& model, const EventRef& ref);

// The event's own times: those of a summary row are of a piece of it. [start, end), ns.
std::pair<TimeNs, TimeNs> EventTimes(const Run& run, const RowModel& model, const EventRef& ref);

// All that is recorded of the event, with its launch or with what it launched, and the ranges
// around it. `linked`: what Links tells of it. O(rows + log events).
std::vector<Detail> EventDetails(const Run& run, const RowModel& model, const EventRef& ref,
                                 const LinkedEvents& linked);

// A moment on the ruler's clock, in seconds with all nanoseconds: "1.234567890 s".
std::string FormatMoment(const RowModel& model, TimeNs time_ns);

}  // namespace traceinject
