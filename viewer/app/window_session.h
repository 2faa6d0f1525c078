// SPDX-License-Identifier: Apache-2.0
// What the window shows from its first to its last frame: which recording is open, the next one
// that was dropped onto it, what could not be read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "viewer/core/load/background_load.h"
#include "viewer/core/session/recent_files.h"
#include "viewer/options/options.h"
#include "viewer/platform/window.h"
#include "viewer/ui/viewer_ui.h"

namespace traceinject {

class WindowSession : public WindowContent {
 public:
  // Begins to read; without a recording in the options the user is asked for one. `recent_path`:
  // of the file with those that were opened last; empty: none is kept.
  explicit WindowSession(const ViewerOptions& options, const std::string& recent_path = "");

  // Between ImGui::NewFrame and ImGui::Render. Never waits.
  WindowNext Frame(const WindowFrame& frame) override;
  // Names what is shown; until something is, what is being read.
  std::string title() const override { return title_; }

  const ViewerUi& ui() const { return ui_; }
  // Why the last recording could not be opened; empty: it could.
  const std::string& problem() const { return problem_; }

 private:
  void Open(const std::vector<std::string>& paths, const BackgroundLoad::Options& options);
  void TakeNews();
  void OpenOther(const std::vector<std::string>& paths);

  ViewerOptions options_;
  ViewerUi ui_;
  RecentFiles recent_;
  std::vector<std::string> opened_;  // what load_ reads
  std::string problem_, title_;
  bool shown_ = false;                    // some of what load_ reads is on the screen
  std::unique_ptr<BackgroundLoad> load_;  // null until there is something to read
  // Were told to stop and have not yet: waiting for them would stop the window.
  std::vector<std::unique_ptr<BackgroundLoad>> ending_;
};

}  // namespace traceinject
