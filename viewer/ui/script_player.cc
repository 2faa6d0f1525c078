// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/script_player.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "analyzer/common/units.h"
#include "viewer/core/load/title.h"
#include "viewer/core/session/dump_state.h"
#include "viewer/core/session/small_file.h"

namespace traceinject {
namespace {

constexpr double kMaxWheelSteps = 1000;

class Player {
 public:
  Player(ViewerUi& ui, const ScriptStage& stage) : ui_(ui), stage_(stage) {}

  Status Play(const ScriptStep& step) {
    if (ui_.workspace() == nullptr && NeedsRecording(step.verb))
      return Error{"no recording is open yet"};
    const Status played = Do(step);
    if (!played.ok()) return played;
    const std::string chosen = ui_.TakeChosen();
    return chosen.empty() ? played : Drop({chosen});
  }

  // ImGui knows a frame later what is hovered, and another one later how large a new window is.
  Status Settle() {
    for (int i = 0; i < 3; ++i) stage_.frame({});
    return Done{};
  }

 private:
  Workspace& workspace() { return *ui_.workspace(); }

  // The others are of the keyboard and of what can be clicked.
  static bool NeedsRecording(ScriptVerb verb) {
    switch (verb) {
      case ScriptVerb::kCommand:
      case ScriptVerb::kShow:
      case ScriptVerb::kZoom:
      case ScriptVerb::kDrag:
      case ScriptVerb::kWheel:
      case ScriptVerb::kSelect:
      case ScriptVerb::kDumpState:
        return true;
      default:
        return false;
    }
  }

  Status Do(const ScriptStep& step) {
    switch (step.verb) {
      case ScriptVerb::kCommand:
        workspace().Do(step.command);
        return Settle();
      case ScriptVerb::kShow:
        return Show(step.arguments);
      case ScriptVerb::kZoom:
        return Zoom(step.arguments);
      case ScriptVerb::kKey:
        return PressKeys(step.arguments);
      case ScriptVerb::kText:
        ImGui::GetIO().AddInputCharactersUTF8(step.arguments[0].c_str());
        return Settle();
      case ScriptVerb::kMove:
        return Move(step.arguments[0]);
      case ScriptVerb::kClick:
        return Click(step.arguments, 1);
      case ScriptVerb::kDoubleClick:
        return Click(step.arguments, 2);
      case ScriptVerb::kDrag:
        return Drag(step.arguments);
      case ScriptVerb::kWheel:
        return Wheel(step.arguments);
      case ScriptVerb::kSelect:
        return Select(step.arguments[0]);
      case ScriptVerb::kDrop:
        return Drop(step.arguments);
      case ScriptVerb::kDumpState:
        return Dump(step.arguments);
      case ScriptVerb::kScreenshot:
        return stage_.screenshot(step.arguments[0]);
    }
    return Done{};
  }

  Status Show(const std::vector<std::string>& limits) {
    const Result<std::int64_t> from = ParseTime(limits[0]), to = ParseTime(limits[1]);
    if (!from.ok()) return Error{from.error()};
    if (!to.ok()) return Error{to.error()};
    if (from.value() >= to.value()) return Error{"the first time must be before the second"};
    workspace().Show(from.value(), to.value());
    return Settle();
  }

  Status Zoom(const std::vector<std::string>& arguments) {
    if (arguments.size() > 1) {
      const Status moved = Move(arguments[1]);
      if (!moved.ok()) return moved;
    }
    return Wheel({arguments[0], "ctrl"});
  }

  Status PressKeys(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const auto press = ParseKeyPress(name);
      if (!press) return Error{fmt::format("\"{}\" is not a key", name)};
      stage_.frame({*press});
    }
    return Settle();
  }

  // In pixels of the window.
  Result<ImVec2> Find(const std::string& place) const {
    if (const std::optional<Box> control = ui_.controls().Find(place)) {
      return ImVec2{(control->left + control->right) / 2, (control->top + control->bottom) / 2};
    }
    if (ui_.timeline() == nullptr) return Error{fmt::format("no \"{}\" to be seen", place)};
    const Result<ScriptPlace> found = FindPlace(*ui_.timeline(), place);
    if (!found.ok()) return Error{found.error()};
    const auto [left, top] = ui_.timeline_origin();
    return ImVec2{left + found.value().x, top + found.value().y};
  }

  Status Move(const std::string& place) {
    const Result<ImVec2> found = Find(place);
    if (!found.ok()) return Error{found.error()};
    ImGui::GetIO().MousePos = found.value();
    return Settle();
  }

  void SetButton(int button, bool down) {
    ImGui::GetIO().MouseDown[button] = down;
    stage_.frame({});
  }

  Status Click(const std::vector<std::string>& arguments, int times) {
    if (!arguments.empty()) {
      const Status moved = Move(arguments[0]);
      if (!moved.ok()) return moved;
    }
    for (int i = 0; i < times; ++i) {
      SetButton(ImGuiMouseButton_Left, true);
      SetButton(ImGuiMouseButton_Left, false);
    }
    // So that the next click is not the second of a double click.
    const auto frames = static_cast<int>(ImGui::GetIO().MouseDoubleClickTime * 60) + 2;
    for (int i = 0; i < frames; ++i) stage_.frame({});
    return Done{};
  }

  // Puts the named modifiers down; false for a name that is none.
  bool Hold(const std::string& name) {
    ImGuiIO& io = ImGui::GetIO();
    if (name == "ctrl") {
      io.KeyCtrl = true;
      io.KeyMods |= ImGuiKeyModFlags_Ctrl;
    } else if (name == "shift") {
      io.KeyShift = true;
      io.KeyMods |= ImGuiKeyModFlags_Shift;
    } else if (name == "alt") {
      io.KeyAlt = true;
      io.KeyMods |= ImGuiKeyModFlags_Alt;
    } else {
      return false;
    }
    return true;
  }
  void LetGo() {
    ImGuiIO& io = ImGui::GetIO();
    io.KeyCtrl = io.KeyShift = io.KeyAlt = false;
    io.KeyMods = ImGuiKeyModFlags_None;
  }

  Status Drag(const std::vector<std::string>& arguments) {
    int button = ImGuiMouseButton_Left;
    std::vector<std::string> held;
    for (std::size_t i = 2; i < arguments.size(); ++i) {
      constexpr std::string_view kButtons[] = {"left", "right", "middle"};
      const auto* const found = std::find(std::begin(kButtons), std::end(kButtons), arguments[i]);
      if (found != std::end(kButtons)) {
        button = static_cast<int>(found - std::begin(kButtons));
      } else if (arguments[i] == "shift" || arguments[i] == "alt") {
        held.push_back(arguments[i]);
      } else {
        return Error{fmt::format("\"{}\" is neither a button nor a modifier", arguments[i])};
      }
    }
    // Both as they are now: while it moves, the view may move with it.
    const Result<ImVec2> to = Find(arguments[1]);
    if (!to.ok()) return Error{to.error()};
    const Status moved = Move(arguments[0]);
    if (!moved.ok()) return moved;
    const ImVec2 begin = ImGui::GetIO().MousePos, end = to.value();
    for (const std::string& name : held) Hold(name);
    SetButton(button, true);
    ImGui::GetIO().MousePos = {(begin.x + end.x) / 2, (begin.y + end.y) / 2};
    stage_.frame({});
    ImGui::GetIO().MousePos = end;
    stage_.frame({});
    SetButton(button, false);
    LetGo();
    return Settle();
  }

  Status Wheel(const std::vector<std::string>& arguments) {
    double steps = 0;
    const std::string& text = arguments[0];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), steps);
    if (error != std::errc() || end != text.data() + text.size() ||
        !(std::abs(steps) <= kMaxWheelSteps)) {
      return Error{fmt::format("\"{}\" is not a number of steps", text)};
    }
    for (std::size_t i = 1; i < arguments.size(); ++i) {
      if (Hold(arguments[i])) continue;
      LetGo();
      return Error{fmt::format("\"{}\" is not a modifier", arguments[i])};
    }
    ImGui::GetIO().MouseWheel = static_cast<float>(steps);
    stage_.frame({});
    LetGo();
    return Settle();
  }

  Status Select(const std::string& place) {
    const Result<EventRef> event = FindEventAt(workspace().timeline(), place);
    if (!event.ok()) return Error{event.error()};
    workspace().timeline().Reveal(event.value());
    return Settle();
  }

  // What cannot be opened is said in the window, as it is there.
  Status Drop(const std::vector<std::string>& paths) {
    ui_.SetOpening(NamesOf(paths));
    LoadResult loaded = LoadWithRows(paths, {});
    if (loaded.ok()) {
      ui_.SetLoaded(std::move(loaded).value(), std::nullopt, std::nullopt);
    } else {
      ui_.SetProblem(loaded.error());
    }
    return Settle();
  }

  Status Dump(const std::vector<std::string>& arguments) {
    const std::string state = DumpState(workspace());
    if (!arguments.empty()) {
      const Status written = ReplaceFile(arguments[0], state);
      return written.ok() ? written : Error{arguments[0] + ": " + written.error()};
    }
    stage_.print(state);
    return Done{};
  }

  ViewerUi& ui_;
  const ScriptStage& stage_;
};

}  // namespace

Status PlayScript(const std::vector<ScriptStep>& steps, ViewerUi& ui, const ScriptStage& stage) {
  Player player(ui, stage);
  Status settled = player.Settle();
  for (const ScriptStep& step : steps) {
    const Status done = player.Play(step);
    if (done.ok()) continue;
    return step.line == 0 ? done : Error{fmt::format("line {}: {}", step.line, done.error())};
  }
  return settled;
}

}  // namespace traceinject
