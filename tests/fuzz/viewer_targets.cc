// SPDX-License-Identifier: Apache-2.0
// What traceview reads: of browsers, of scripts, and of the file beside a recording.
#include <chrono>
#include <cmath>
#include <iterator>
#include <string>
#include <thread>

#include "analyzer/common/result.h"
#include "analyzer/common/units.h"
#include "analyzer/http/url_text.h"
#include "tests/fuzz/bases.h"
#include "tests/fuzz/input_bytes.h"
#include "tests/fuzz/scratch_file.h"
#include "tests/fuzz/target.h"
#include "viewer/core/session/script.h"
#include "viewer/core/session/sidecar.h"
#include "viewer/serve/frame_coder.h"
#include "viewer/serve/input_events.h"
#include "viewer/serve/link_text.h"
#include "viewer/serve/view_state.h"
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

SessionStart PlainStart() {
  SessionStart start;
  start.name = "run.db";
  start.screen = {1400, 800, 1};
  start.saves = false;
  return start;
}

// Mostly on the screen.
float Pixel(InputBytes& input) { return static_cast<float>(input.Number(2) % 1700) - 50; }

Modifiers SomeHeld(std::uint8_t bits) {
  return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
}

std::string ShortText(InputBytes& input) { return std::string(input.Take(input.Byte() % 64)); }

// Perhaps with one character that is another.
std::string Changed(std::string text, InputBytes& input) {
  const std::uint8_t choice = input.Byte();
  if (choice % 4 == 3 && !text.empty())
    text[input.Below(text.size())] = static_cast<char>(input.Byte());
  return text;
}

std::string SomeTimes(InputBytes& input) {
  static constexpr const char* kTimes[] = {"all",      "0..10ms", "1.2s..1.25s", "-1s..1s",
                                           "5..1",     "1..soon", "..",          "1e9..2e9",
                                           "0..4e9s",  "0..1ns",  "-70min..0",   "%2e.%2E",
                                           "0.1..0.1", "%",       "3..3.000001"};
  return kTimes[input.Below(std::size(kTimes))];
}

// What an event, or a row, is called.
void AddPlace(InputBytes& input, const RowModel& model, std::string& link) {
  const std::uint8_t choice = input.Byte();
  const Row& row = model.rows[input.Below(model.rows.size())];
  AddToLink("row", PercentEncoded(row.id), link);
  if (choice % 4 == 0 || row.lanes.empty()) return;
  const Lane& lane = row.lanes[input.Below(row.lanes.size())];
  if (lane.size() == 0) return;
  const TimeNs start = lane.start(input.Below(lane.size()));
  AddToLink("event", SecondsText(start - model.origin + (choice % 4 == 3 ? 1 : 0)), link);
}

// To what may be seen there.
std::string SomeLink(InputBytes& input, const ViewerSession& session) {
  const std::uint8_t parts = input.Byte();
  if (parts % 8 == 0) return ShortText(input);
  if (parts % 8 == 1) return Changed(session.link(), input);
  std::string link;
  if ((parts & 2) != 0) AddToLink("t", SomeTimes(input), link);
  const Timeline* timeline = session.ui().timeline();
  if ((parts & 4) != 0 && timeline != nullptr) AddPlace(input, timeline->model(), link);
  return Changed(link, input);
}

// What a page kept of what is shown, with changes.
std::string SomeState(InputBytes& input, const ViewerSession& session) {
  const std::uint8_t parts = input.Byte();
  if (parts % 8 == 0) return ShortText(input);
  std::string state = (parts & 1) != 0 ? ViewState(session.ui()) : "";
  for (int changes = parts / 32; changes > 0 && !state.empty(); --changes)
    state[input.Below(state.size())] = static_cast<char>(input.Byte());
  if ((parts & 2) != 0) AddToLink("measure", SomeTimes(input), state);
  if ((parts & 4) != 0) AddToLink("filter", PercentEncoded(ShortText(input)), state);
  if ((parts & 8) != 0) AddToLink("panels", "marks,find,palette,details", state);
  if ((parts & 16) != 0) AddToLink("theme", Changed("light&colors=stream&tab=Marks", input), state);
  return state;
}

// What a user may do, most of it likely to change something.
InputEvent SomeEvent(InputBytes& input, const ViewerSession& session) {
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
      return LinkFollowed{SomeLink(input, session)};
    case 8:
      return StateGiven{SomeState(input, session)};
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
  SessionStart start = PlainStart();
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
    const InputEvent event = SomeEvent(bytes, session);
    session.Take(event);
    // A page that gives back its state follows its link, too.
    if (std::holds_alternative<StateGiven>(event))
      session.Take(LinkFollowed{SomeLink(bytes, session)});
    if (bytes.Byte() % 4 == 0) DrawAll(session);
  }
  DrawAll(session);
  std::string wrong = WrongFrame(session.frame());
  const Timeline* timeline = session.ui().timeline();
  if (timeline == nullptr) return wrong + "no timeline\n";
  wrong += WrongView(*timeline);
  const std::string link = session.link(), state = ViewState(session.ui());
  session.Take(StateGiven{state});
  session.Take(LinkFollowed{link});
  DrawAll(session);
  if (const std::string again = ViewState(session.ui()); again != state)
    wrong += "the state " + state + " became " + again + "\n";
  if (TimeOf(session.link()) != TimeOf(link))
    wrong += "the link " + link + " led to " + session.link() + "\n";
  return wrong;
}

// Where its places are on the screen.
const Timeline& DrawnTimeline() {
  static ViewerSession session(TwoRanks(), PlainStart());
  DrawAll(session);
  return *session.ui().timeline();
}

std::string WrongPlace(const Timeline& timeline, const std::string& text) {
  const auto place = FindPlace(timeline, text);
  if (!place.ok() && place.error().empty()) return "no place, without a reason\n";
  if (place.ok() && !(std::isfinite(place.value().x) && std::isfinite(place.value().y)))
    return "a place that is nowhere: " + text + "\n";
  const auto event = FindEventAt(timeline, text);
  if (!event.ok()) return event.error().empty() ? "no event, without a reason\n" : "";
  const auto& [row, lane, index] = event.value();
  const auto& rows = timeline.model().rows;
  const bool is_there =
      row < rows.size() && lane < rows[row].lanes.size() && index < rows[row].lanes[lane].size();
  return is_there ? "" : "an event that is not there: " + text + "\n";
}

std::string FuzzScript(std::string_view input) {
  const auto steps = ParseScript(input);
  if (!steps.ok())
    return steps.error().starts_with("line ") ? "" : "an error without a line: " + steps.error();
  std::size_t line = 0;
  for (const ScriptStep& step : steps.value()) {
    if (step.line <= line) return "steps that are not in order\n";
    line = step.line;
    for (const std::string& argument : step.arguments)
      if (const std::string wrong = WrongPlace(DrawnTimeline(), argument); !wrong.empty())
        return wrong;
  }
  return {};
}

// A file that is not understood is told of, and never written over.
std::string WrongFile(std::string_view input, bool is_read, std::int64_t base_ns) {
  Sidecar sidecar(PutFile("run.db.marks.json", input));
  sidecar.Read(base_ns);
  return sidecar.problem().empty() == is_read
             ? ""
             : "another problem with the file than with its text\n";
}

std::string FuzzSidecar(std::string_view input) {
  constexpr std::int64_t kBaseNs = 1'700'000'000'000'000'000;
  const auto read = ReadSidecarJson(std::string(input), kBaseNs);
  const std::string wrong = WrongFile(input, read.ok(), kBaseNs);
  if (!wrong.empty()) return wrong;
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
