// SPDX-License-Identifier: Apache-2.0
// The whole window, one frame at a time. Works with any ImGui back end: keys come as a list, since
// ImGui's own (1.86) loses those that go down and up within a frame.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viewer/core/background_load.h"
#include "viewer/core/paint_timeline.h"
#include "viewer/ui/row_controls.h"

namespace traceinject {

class ViewerUi {
 public:
  // `what`: what is being read, for the progress display.
  explicit ViewerUi(std::string what) : what_(std::move(what)) {}

  // How the window looks from the next frame on.
  void SetLook(const Look& look);
  void SetProgress(const LoadProgress& progress) { progress_ = progress; }
  // From here on the timeline is shown: all of it, or [from_ns, to_ns) relative to the first GPU
  // operation.
  void SetLoaded(std::unique_ptr<const LoadedRun> loaded, std::optional<TimeNs> from_ns,
                 std::optional<TimeNs> to_ns);

  // Between ImGui::NewFrame and ImGui::Render. `keys`: pressed since the last frame, in order.
  void Frame(const std::vector<Key>& keys);

  // Null until loaded.
  const Timeline* timeline() const { return timeline_ ? &*timeline_ : nullptr; }

 private:
  void DrawTimeline(float height_px);
  void FeedMouse(float origin_x, float origin_y);

  std::string what_;
  LoadProgress progress_;
  std::unique_ptr<const LoadedRun> loaded_;
  std::optional<Timeline> timeline_;
  Look look_;        // before there is a timeline to ask
  Painted painted_;  // in the last frame
  RowControls row_controls_;
};

}  // namespace traceinject
