// SPDX-License-Identifier: Apache-2.0
// One viewer's timeline: a context of ImGui, what is shown, and the input that is still to be told.
// All sessions are on one thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "analyzer/view/style/theme.h"
#include "viewer/platform/headless.h"
#include "viewer/serve/drawn_frame.h"
#include "viewer/serve/input_events.h"
#include "viewer/serve/shared_run.h"
#include "viewer/ui/viewer_ui.h"

namespace traceinject {

// How one begins.
struct SessionStart {
  std::string name;  // of the recording
  ThemeId theme = ThemeId::kDark;
  std::optional<float> scale;            // empty: that of the screen
  std::optional<TimeNs> from_ns, to_ns;  // relative to the first GPU operation
  std::string link;                      // goes before them
  bool leads_to_verdict = false;         // where nothing else is asked for
  bool saves = true;                     // marks and rows, beside the recording
  ScreenSize screen;
};

// The texture of the font, a byte a pixel.
struct FontTexture {
  int width_px = 0, height_px = 0;
  std::string alpha;
};

class ViewerSession {
 public:
  // `run` must outlive it.
  ViewerSession(SharedRun& run, SessionStart start);
  ~ViewerSession();
  ViewerSession(const ViewerSession&) = delete;
  ViewerSession& operator=(const ViewerSession&) = delete;

  // Hello and FrameSeen are not for it.
  void Take(const InputEvent& event);
  // Whether the next frame may differ from the last one: something came in, or moves by itself.
  bool IsDue() const { return frames_ > 0 || !input_.empty(); }
  // Looks for what moves by itself.
  void Wake();
  // One frame.
  void Draw();

  const DrawnFrame& frame() const { return frame_; }
  // Once after each time it was made anew.
  std::optional<FontTexture> TakeFont();
  // What was copied since the last call.
  std::optional<std::string> TakeCopied();
  std::optional<CommandId> TakeForBrowser();
  // Of what is shown now.
  std::string link() const;
  // What is shown beyond that, once it may have changed; empty text: nothing that could be given
  // back.
  std::optional<std::string> TakeState();
  const ViewerUi& ui() const { return ui_; }

 private:
  void MakeScreen(const ScreenSize& wanted);
  void FollowRun();
  void FollowLink();
  void Move(const Finger& finger);
  void TellKeys(const FrameInput& input);

  SharedRun& run_;
  SessionStart start_;
  ViewerUi ui_;
  std::unique_ptr<HeadlessScreen> screen_;
  float scale_ = 0;
  std::string problem_;  // that was told
  std::shared_ptr<const LoadedRun> shown_;
  std::optional<std::string> link_;  // to follow once all that it may name is there
  std::string state_;                // to restore at the same time
  bool was_drawn_ = false;           // since the state was taken
  InputQueue input_;
  FrameInput last_;       // what the frame before was told
  bool release_ = false;  // keys of the frame before are still down
  std::size_t finger_ = 0;
  int frames_ = 0;      // still to draw
  bool moved_ = false;  // by itself, when that was looked at
  std::chrono::steady_clock::time_point drawn_at_;
  DrawnFrame frame_;
  bool font_is_new_ = false;
  std::optional<std::string> copied_;
};

}  // namespace traceinject
