// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analyzer/model/run.h"
#include "analyzer/view/style/theme.h"

namespace CLI {
class App;
}

namespace traceinject {

struct ViewerOptions {
  std::vector<std::string> paths;
  // Without any of these a window is opened.
  std::optional<std::string> serve;  // where browsers are answered, HOST:PORT
  std::string screenshot;            // path of the picture
  std::string script;                // path of the script, which is played first
  std::string dump_state;            // path of the JSON; "-": stdout
  int width_px = 1600, height_px = 900;
  std::optional<ThemeId> theme;          // empty: dark, or what the browser is set to
  std::optional<float> scale;            // of text and all else; empty: that of the screen
  std::optional<TimeNs> from_ns, to_ns;  // relative to the first GPU operation
  bool whole_run = false;                // --view all
  bool follow = false;                   // read again when the recording grows
  bool check = false;                    // say what was read, and exit
  int bench_frames = 0;                  // measure so many frames, and exit; 0: do not
  std::uint64_t bench_events = 0;        // of a generated run; 0: of the recording

  // Whether what was judged is shown at first: nothing else was asked for, no script expects to
  // begin with the whole run, and no verdict is of a recording that goes on.
  bool LeadsToVerdict() const {
    return !from_ns && !to_ns && !whole_run && !follow && script.empty();
  }
};

// Declares the options; `options` must outlive the parsing.
void AddViewerOptions(CLI::App& app, ViewerOptions& options);

// What to print instead of running, and the exit code.
struct UsageText {
  std::string text;
  int exit_code = 0;
};

// What is said of a window that is to ask for a recording where there is no display.
UsageText NoRecordingGiven();

// `arguments`: without the program's name. Without paths the user is asked for a recording.
std::variant<ViewerOptions, UsageText> ParseOptions(std::vector<std::string> arguments);

}  // namespace traceinject
