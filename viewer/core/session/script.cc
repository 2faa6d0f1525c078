// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"

namespace traceinject {
namespace {

constexpr ScriptUsage kUsages[] = {
    {ScriptVerb::kShow, "show", "FROM TO", "show this range; times after the first GPU operation",
     2, 2},
    {ScriptVerb::kZoom, "zoom", "STEPS [PLACE]", "zoom as with Ctrl+wheel; negative: out", 1, 2},
    {ScriptVerb::kKey, "key", "KEY...", "press keys, as Ctrl+Shift+P", 1, 100},
    {ScriptVerb::kText, "text", "TEXT", "type text", 1, 1},
    {ScriptVerb::kMove, "move", "PLACE", "move the pointer", 1, 1},
    {ScriptVerb::kClick, "click", "[PLACE]", "click the left button", 0, 1},
    {ScriptVerb::kDoubleClick, "double-click", "[PLACE]", "double-click", 0, 1},
    {ScriptVerb::kDrag, "drag", "PLACE PLACE [left|right|middle] [shift] [alt]",
     "drag from the first place to the second", 2, 5},
    {ScriptVerb::kWheel, "wheel", "STEPS [ctrl] [shift]",
     "turn the wheel; positive: away from the user", 1, 3},
    {ScriptVerb::kSelect, "select", "PLACE", "select the event there, even if it is off screen", 1,
     1},
    {ScriptVerb::kDrop, "drop", "FILE...", "open other recordings, as if dropped onto the window",
     1, 100},
    {ScriptVerb::kDumpState, "dump-state", "[FILE]",
     "write what is shown as JSON; without a file: to stdout", 0, 1},
    {ScriptVerb::kScreenshot, "screenshot", "FILE", "write a PNG", 1, 1},
};

Result<std::vector<std::string>> SplitWords(std::string_view line) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (true) {
    at = line.find_first_not_of(" \t\r", at);
    if (at == std::string_view::npos || line[at] == '#') return words;
    std::string_view word;
    if (line[at] == '"') {
      const std::size_t end = line.find('"', at + 1);
      if (end == std::string_view::npos) return Error{"a quotation mark is not closed"};
      word = line.substr(at + 1, end - at - 1);
      at = end + 1;
    } else {
      const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
      word = line.substr(at, end - at);
      at = end;
    }
    words.emplace_back(word);
  }
}

Error UnknownWord(const std::string& word) {
  std::vector<std::string_view> known;
  for (const ScriptUsage& usage : kUsages) known.push_back(usage.name);
  for (const Command& command : Commands()) known.push_back(command.name);
  const auto nearest = NearestWord(word, known);
  return Error{fmt::format("unknown command \"{}\"{}", ShortenMiddle(word, 60),
                           nearest ? fmt::format("; did you mean {}?", *nearest) : "")};
}

Result<ScriptStep> ParseStep(std::vector<std::string> words) {
  ScriptStep step;
  const std::string name = words.front();
  step.arguments.assign(words.begin() + 1, words.end());
  if (const auto command = CommandNamed(name)) {
    step.command = *command;
    if (step.arguments.empty()) return step;
    return Error{name + " takes no arguments"};
  }
  const auto usage = std::find_if(std::begin(kUsages), std::end(kUsages),
                                  [&](const ScriptUsage& one) { return one.name == name; });
  if (usage == std::end(kUsages)) return UnknownWord(name);
  if (step.arguments.size() < usage->least || step.arguments.size() > usage->most) {
    return Error{fmt::format("expected: {} {}", usage->name, usage->arguments)};
  }
  step.verb = usage->verb;
  return step;
}

// What "rank 1/stream 7#2@1ms" says.
struct NamedPlace {
  std::uint32_t row = kNone;  // kNone: the ruler
  std::uint32_t lane = 0;
  TimeNs time = 0;
};

std::optional<std::uint32_t> FindRow(const Timeline& timeline, std::string_view name) {
  const RowModel& model = timeline.model();
  std::string_view heading;
  if (const std::size_t slash = name.find('/'); slash != std::string_view::npos) {
    heading = name.substr(0, slash);
    name.remove_prefix(slash + 1);
  }
  bool in_rank = heading.empty();
  for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
    const std::string& label = model.rows[row].label;
    if (model.rows[row].kind == RowKind::kRank && !heading.empty()) {
      // "rank 1" or all of "rank 1 on node-a".
      in_rank = label == heading || label.starts_with(std::string(heading) + " ");
    }
    if (in_rank && label == name) return row;
  }
  return std::nullopt;
}

Result<NamedPlace> ParsePlace(const Timeline& timeline, std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) {
    return Error{fmt::format("\"{}\" is not a place: expected x,y or row@time", text)};
  }
  const Result<std::int64_t> time = ParseTime(text.substr(at + 1));
  if (!time.ok()) return Error{time.error()};
  NamedPlace place;
  place.time = timeline.model().origin + time.value();
  std::string_view name = text.substr(0, at);
  if (name == "ruler") return place;
  if (const std::size_t hash = name.rfind('#'); hash != std::string_view::npos) {
    const std::string_view lane = name.substr(hash + 1);
    const auto [end, error] = std::from_chars(lane.data(), lane.data() + lane.size(), place.lane);
    if (error == std::errc() && end == lane.data() + lane.size()) name = name.substr(0, hash);
  }
  const auto row = FindRow(timeline, name);
  if (!row) return Error{fmt::format("no row \"{}\"", name)};
  const std::size_t lanes = timeline.model().rows[*row].lanes.size();
  if (place.lane >= std::max<std::size_t>(lanes, 1)) {
    return Error{fmt::format("the row \"{}\" has {} lanes", name, lanes)};
  }
  place.row = *row;
  return place;
}

std::optional<ScriptPlace> ParsePixels(std::string_view text) {
  int x = 0, y = 0;
  const char* const end = text.data() + text.size();
  const auto [comma, bad_x] = std::from_chars(text.data(), end, x);
  if (bad_x != std::errc() || comma == end || *comma != ',') return std::nullopt;
  const auto [last, bad_y] = std::from_chars(comma + 1, end, y);
  if (bad_y != std::errc() || last != end) return std::nullopt;
  return ScriptPlace{static_cast<float>(x), static_cast<float>(y)};
}

}  // namespace

std::span<const ScriptUsage> ScriptUsages() { return kUsages; }

Result<std::vector<ScriptStep>> ParseScript(std::string_view text) {
  std::vector<ScriptStep> steps;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto fail = [number](const std::string& what) {
      return Error{fmt::format("line {}: {}", number, what)};
    };
    Result<std::vector<std::string>> words = SplitWords(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!words.ok()) return fail(words.error());
    if (words.value().empty()) continue;
    Result<ScriptStep> step = ParseStep(std::move(words).value());
    if (!step.ok()) return fail(step.error());
    step.value().line = number;
    steps.push_back(std::move(step).value());
  }
  return steps;
}

Result<ScriptPlace> FindPlace(const Timeline& timeline, std::string_view place) {
  if (const auto pixels = ParsePixels(place)) return *pixels;
  const Result<NamedPlace> named = ParsePlace(timeline, place);
  if (!named.ok()) return Error{named.error()};
  const auto& [row, lane, time] = named.value();
  const float x = timeline.Plot().left + timeline.view().X(time);
  if (row == kNone) return ScriptPlace{x, timeline.sizes().ruler / 2};
  const float top = timeline.LaneTop(row, lane);
  return ScriptPlace{x, top + timeline.layout().lane_px(row) / 2};
}

Result<EventRef> FindEventAt(const Timeline& timeline, std::string_view place) {
  const Result<NamedPlace> named = ParsePlace(timeline, place);
  if (!named.ok()) return Error{named.error()};
  const auto& [row, lane, time] = named.value();
  if (row != kNone && lane < timeline.model().rows[row].lanes.size()) {
    const Lane& events = timeline.model().rows[row].lanes[lane];
    const std::size_t event = events.FirstEndingAfter(time);
    if (event < events.size() && events.start(event) <= time) {
      return EventRef{row, lane, static_cast<std::uint32_t>(event)};
    }
  }
  return Error{fmt::format("no event at \"{}\"", place)};
}

}  // namespace traceinject
