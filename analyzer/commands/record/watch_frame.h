// SPDX-License-Identifier: Apache-2.0
// One picture of a running job, from the report on its last seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "schemas/report.pb.h"

namespace traceinject {

struct WatchFrame {
  const proto::Report& report;
  std::int64_t now_unix_ns = 0;
  std::int64_t late_ns = 0;  // it was due so long ago
  bool ended = false;        // nobody writes to the recording any more
};

// Of the screen.
struct FrameSize {
  std::size_t columns = 100;  // at least kMinTextWidth
  std::size_t lines = 0;      // rows of GPUs that do not fit are counted instead; 0: all fit
};

// At most `size.lines` lines, without control characters; sentences are broken to fit
// `size.columns`, longer rows of the table are shortened. The GPUs that wait least for others,
// which hold these up, come first.
std::string FrameText(const WatchFrame& frame, const FrameSize& size);

// The same figures as one line of JSON, of all GPUs.
std::string FrameJson(const WatchFrame& frame);

}  // namespace traceinject
