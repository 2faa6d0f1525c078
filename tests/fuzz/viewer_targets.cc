// SPDX-License-Identifier: Apache-2.0
// What traceview reads: of browsers, of scripts, and of the file beside a recording.
#include <chrono>
#include <string>
#include <thread>

#include "analyzer/common/result.h"
#include "tests/fuzz/bases.h"
#include "tests/fuzz/input_bytes.h"
#include "tests/fuzz/scratch_file.h"
#include "tests/fuzz/target.h"
#include "viewer/core/session/script.h"
#include "viewer/core/session/sidecar.h"
#include "viewer/serve/frame_coder.h"
#include "viewer/serve/input_events.h"
#include "viewer/serve/viewer_session.h"

namespace traceinject {
namespace {

// Of two ranks, read once.
SharedRun& TwoRanks() {
  static SharedRun run({PutFile("run.rank00000.db", ReadBase("rank0.db")),
                        PutFile("run.rank00001.db", ReadBase("rank1.db"))});
  run.Update();
  while (run.loaded() == nullptr || run.progress()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    run.Update();
  }
  return run;
}

// Mostly on the screen.
float Pixel(InputBytes& input) { return static_cast<float>(input.Number(2) % 1700) - 50; }

Modifiers SomeHeld(std::uint8_t bits) {
  return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
}

std::string ShortText(InputBytes& input) { return std::string(input.Take(input.Byte() % 64)); }

// What a user may do, most of it likely to change something.
InputEvent SomeEvent(InputBytes& input) {
  switch (input.Below(10)) {
    case 0:
      return KeyPress{static_cast<Key>(input.Below(static_cast<std::size_t>(kLastKey) + 1)),
                      SomeHeld(input.Byte())};
    case 1:
      return MousePlace{Pixel(input), Pixel(input)};
    case 2:
      return MouseButton{input.Below(4), input.Byte() % 2 == 0, input.Byte() % 4 == 0};
    case 3:
      return WheelSteps{static_cast<float>(input.Byte()) / 16 - 8,
                        static_cast<float>(input.Byte()) / 16 - 8};
    case 4:
      return TypedText{ShortText(input)};
    case 5:
      return SomeHeld(input.Byte());
    case 6:
      return ScreenSize{static_cast<int>(input.Number(2)), static_cast<int>(input.Number(2)), 1};
    case 7:
      return LinkFollowed{ShortText(input)};
    case 8:
      return StateGiven{ShortText(input)};
    default:
      return Finger{input.Byte() % 2 == 0, {Pixel(input), Pixel(input)}};
  }
}

// Frames until nothing moves.
void DrawAll(ViewerSession& session) {
  constexpr int kMost = 1000;  // a frame is told little of a queue of clicks
  for (int i = 0; i < kMost && session.IsDue(); ++i) session.Draw();
}

std::string WrongFrame(const DrawnFrame& frame) {
  std::string wrong;
  for (const FrameList& list : frame.lists) {
    std::uint64_t drawn = 0;
    for (const FrameCommand& command : list.commands) drawn += command.indices;
    if (drawn > list.indices.size()) wrong += "more indices are drawn than there are\n";
    for (const std::uint32_t index : list.indices)
      if (index >= list.vertices.size()) return wrong + "an index of no vertex\n";
  }
  if (CodeFrame({}, frame).empty()) wrong += "a frame without bytes\n";
  return wrong;
}

std::string WrongView(const Timeline& timeline) {
  return timeline.view().start_ns() < timeline.view().end_ns() ? "" : "a view without length\n";
}

// Of a link the time. The row need not be the same where rows were moved.
std::string_view TimeOf(std::string_view link) {
  return link.starts_with("t=") ? link.substr(0, link.find('&')) : "";
}

std::string FuzzBrowser(std::string_view input) {
  InputBytes bytes(input);
  SessionStart start;
  start.name = "run.db";
  start.screen = {1400, 800, 1};
  start.saves = false;
  const std::uint8_t flags = bytes.Byte();
  if ((flags & 1) != 0) start.link = ShortText(bytes);
  ViewerSession session(TwoRanks(), start);
  DrawAll(session);
  if ((flags & 2) != 0) {  // as bytes of a message
    const auto events = ReadInputEvents(bytes.Rest());
    if (!events) return {};
    for (const InputEvent& event : *events) session.Take(event);
  }
  while (!bytes.is_empty()) {
    session.Take(SomeEvent(bytes));
    if (bytes.Byte() % 4 == 0) DrawAll(session);
  }
  DrawAll(session);
  std::string wrong = WrongFrame(session.frame());
  const Timeline* timeline = session.ui().timeline();
  if (timeline == nullptr) return wrong + "no timeline\n";
  wrong += WrongView(*timeline);
  const std::string link = session.link();
  session.Take(LinkFollowed{link});
  DrawAll(session);
  if (TimeOf(session.link()) != TimeOf(link))
    wrong += "the link " + link + " led to " + session.link() + "\n";
  return wrong;
}

std::string FuzzScript(std::string_view input) {
  const auto steps = ParseScript(input);
  if (!steps.ok())
    return steps.error().starts_with("line ") ? "" : "an error without a line: " + steps.error();
  std::size_t line = 0;
  for (const ScriptStep& step : steps.value()) {
    if (step.line <= line) return "steps that are not in order\n";
    line = step.line;
  }
  return {};
}

std::string FuzzSidecar(std::string_view input) {
  constexpr std::int64_t kBaseNs = 1'700'000'000'000'000'000;
  const auto read = ReadSidecarJson(std::string(input), kBaseNs);
  if (!read.ok()) return read.error().empty() ? "refused without a reason\n" : "";
  const std::string written = SidecarJson(read.value(), kBaseNs);
  const auto again = ReadSidecarJson(written, kBaseNs);
  if (!again.ok()) return "what was written cannot be read: " + again.error() + "\n";
  return SidecarJson(again.value(), kBaseNs) == written ? "" : "what was written reads otherwise\n";
}

constexpr FuzzTarget kTargets[] = {
    {"browser", "what a browser tells traceview --serve, and its links", FuzzBrowser, 512},
    {"script", "a script of traceview", FuzzScript},
    {"sidecar", "marks and rows beside a recording", FuzzSidecar},
};

}  // namespace

std::span<const FuzzTarget> FuzzTargets() { return kTargets; }

}  // namespace traceinject
