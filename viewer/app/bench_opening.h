// SPDX-License-Identifier: Apache-2.0
// How long a user waits, without a window.
#pragma once

#include "analyzer/common/result.h"
#include "viewer/options/options.h"

namespace traceinject {

// Seconds from asking for the recording, as the window does. What making a window takes comes on
// top.
struct OpeningTimes {
  double first_rows_s = 0;  // to the end of the first frame that shows rows
  double whole_s = 0;       // to the end of the first frame that shows all of the recording
};

// Draws frames, 60 a second, until all is read. Error: the recording cannot be read.
Result<OpeningTimes> MeasureOpening(const ViewerOptions& options);

}  // namespace traceinject
