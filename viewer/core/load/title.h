// SPDX-License-Identifier: Apache-2.0
// What is said of the open recording at the top of the window, in as much room as there is.
#pragma once

#include <string>
#include <vector>

#include "analyzer/view/style/canvas.h"
#include "viewer/core/load/background_load.h"

namespace traceinject {

// "run.db", "run.db and 3 more"; empty for none.
std::string NamesOf(const std::vector<std::string>& paths);

// Empty parts are left out.
struct Title {
  std::string name, time;
  std::string shown;  // what the timeline shows, if it is not what the user looked for
  std::string remarks;
  bool operator==(const Title&) const = default;
};

Title TitleOf(const LoadedRun& loaded, const std::string& shown);

// The most that fits with `gap_px` between the parts. The folder goes first, then the date, the
// length, most words of the remarks, what is shown; the end of the name tells more than its start.
Title FitTitle(const Canvas& canvas, const LoadedRun& loaded, const std::string& shown,
               float gap_px, float room_px);

}  // namespace traceinject
