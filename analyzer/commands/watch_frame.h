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
  bool ended = false;  // nobody writes to the recording any more
};

// Of the screen.
struct FrameSize {
  std::size_t columns = 100;
  std::size_t lines = 0;  // rows of GPUs that do not fit are counted instead; 0: all fit
};

// Lines of at most `size.columns` characters, at most `size.lines` of them, without control
// characters. The GPUs that wait least for others, which hold these up, come first.
std::string FrameText(const WatchFrame& frame, const FrameSize& size);

// The same figures as one line of JSON, of all GPUs.
std::string FrameJson(const WatchFrame& frame);

}  // namespace traceinject
