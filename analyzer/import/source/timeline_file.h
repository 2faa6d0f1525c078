// SPDX-License-Identifier: Apache-2.0
// Timelines of a job's operations (docs/formats.md): what they are told by. Their reader is
// analyzer/ranks/timeline.
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

// The key that a timeline's first object begins with.
inline constexpr std::string_view kTimelineKey = "job_timeline";

// Whether a file, plain or gzip, begins like that. False if it cannot be read.
bool IsTimeline(const std::string& path);

}  // namespace traceinject
