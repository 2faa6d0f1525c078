// SPDX-License-Identifier: Apache-2.0
// What a recording shows first: once the verdict is known, the steps that the page of `analyze
// html` has, with the rows of their rank open and a line for each other rank. A user who was
// quicker keeps what is shown.
#pragma once

#include <string>

#include "viewer/core/load/background_report.h"
#include "viewer/core/timeline/timeline.h"

namespace traceinject {

class FirstView {
 public:
  // A recording was opened. `leads`: it is to be shown so.
  void Begin(bool leads);
  // The user did something, or asked for another view.
  void Keep() { awaited_ = false; }
  // The first report on the recording that the timeline shows; from there on it leads nowhere.
  void Lead(const RunReport& report, Timeline& timeline);
  // Whether all of the recording is not what is shown first.
  bool leads() const { return !text_.empty(); }
  // "judged steps 4 to 6 of rank 1 (Home: whole run)" while they are shown; else empty.
  std::string Text(const Timeline& timeline) const;

 private:
  bool enabled_ = false;  // of this recording
  bool awaited_ = false;  // the view is still to go there
  Interval time_;
  std::string text_;  // empty while it is not known
};

}  // namespace traceinject
