// SPDX-License-Identifier: Apache-2.0
#include "viewer/app/without_window.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "viewer/core/load/title.h"
#include "viewer/core/session/script.h"
#include "viewer/core/session/small_file.h"
#include "viewer/platform/headless.h"
#include "viewer/platform/offscreen.h"
#include "viewer/ui/script_player.h"
#include "viewer/ui/viewer_ui.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxScriptBytes = 16 << 20;

// Frames without a window: on an off-screen screen where pictures are wanted, else on none at all.
class Stage {
 public:
  // Error: the machine cannot draw pictures.
  static Result<Stage> Open(const ViewerOptions& options, bool pictures) {
    const float scale = options.scale.value_or(1);
    Stage stage;
    if (!pictures) {
      stage.nowhere_ = std::make_unique<HeadlessScreen>(options.width_px, options.height_px, scale);
      return stage;
    }
    auto screen = OffscreenScreen::Open(options.width_px, options.height_px, scale);
    if (!screen.ok()) return Error{screen.error()};
    stage.screen_ = std::move(screen).value();
    return stage;
  }

  ScriptStage For(ViewerUi& ui) {
    return {[this, &ui](const std::vector<KeyPress>& keys) {
              const auto draw = [&] { ui.Frame(keys); };
              screen_ ? screen_->Frame(draw) : nowhere_->Frame(draw);
              ui.WaitForPanels();  // the same script gives the same picture
            },
            [this](const std::string& path) { return WritePng(path, screen_->Read()); },
            [](const std::string& text) { std::fputs(text.c_str(), stdout); }};
  }

 private:
  std::unique_ptr<OffscreenScreen> screen_;
  std::unique_ptr<HeadlessScreen> nowhere_;
};

// The script, and what is asked for after it as further steps.
Result<std::vector<ScriptStep>> StepsOf(const ViewerOptions& options) {
  std::vector<ScriptStep> steps;
  if (!options.script.empty()) {
    const Result<std::string> text = ReadSmallFile(options.script, kMaxScriptBytes);
    if (!text.ok()) return Error{options.script + ": " + text.error()};
    Result<std::vector<ScriptStep>> parsed = ParseScript(text.value());
    if (!parsed.ok()) return Error{options.script + ": " + parsed.error()};
    steps = std::move(parsed).value();
  }
  if (!options.dump_state.empty()) {
    ScriptStep& dump = steps.emplace_back();
    dump.verb = ScriptVerb::kDumpState;
    if (options.dump_state != "-") dump.arguments = {options.dump_state};
  }
  if (!options.screenshot.empty()) {
    ScriptStep& picture = steps.emplace_back();
    picture.verb = ScriptVerb::kScreenshot;
    picture.arguments = {options.screenshot};
  }
  return steps;
}

}  // namespace

Status RunWithoutWindow(const ViewerOptions& options) {
  const Result<std::vector<ScriptStep>> steps = StepsOf(options);
  if (!steps.ok()) return Error{steps.error()};
  std::unique_ptr<const LoadedRun> run;  // null: nothing is open at first
  if (!options.paths.empty()) {
    LoadResult loaded = LoadWithRows(options.paths, {});
    if (!loaded.ok()) return Error{loaded.error()};
    run = std::move(loaded).value();
    for (const std::string& note : run->run.notes) {
      std::fprintf(stderr, "traceview: %s\n", note.c_str());
    }
  }
  const bool pictures =
      std::any_of(steps.value().begin(), steps.value().end(),
                  [](const ScriptStep& step) { return step.verb == ScriptVerb::kScreenshot; });
  Result<Stage> stage = Stage::Open(options, pictures);
  if (!stage.ok()) return Error{stage.error()};
  ViewerUi ui(NamesOf(options.paths));
  ui.SetLook({.theme = options.theme.value_or(ThemeId::kDark)});
  ui.LeadToVerdict(options.LeadsToVerdict());
  if (run) ui.SetLoaded(std::move(run), options.from_ns, options.to_ns);
  Status played = PlayScript(steps.value(), ui, stage.value().For(ui));
  if (played.ok() || options.script.empty()) return played;
  return Error{options.script + ": " + played.error()};
}

}  // namespace traceinject
