// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/view_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/common/units.h"
#include "analyzer/http/url_text.h"
#include "analyzer/view/rows/event_text.h"

namespace traceinject {
namespace {

// Of the time that is shown: less than a pixel.
constexpr TimeNs kStepsOfView = 20'000;

std::string Seconds(TimeNs time) {
  const TimeNs second = 1'000'000'000;
  const bool negative = time < 0;
  const auto size =
      negative ? 0 - static_cast<std::uint64_t>(time) : static_cast<std::uint64_t>(time);
  std::string text = fmt::format("{}{}.{:09}", negative ? "-" : "", size / second, size % second);
  text.resize(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + "s";
}

// The largest power of ten that is a small part of the view.
TimeNs StepOf(const TimelineView& view) {
  TimeNs step = 1;
  while (step * 10 <= view.span_ns() / kStepsOfView) step *= 10;
  return step;
}

TimeNs Rounded(TimeNs time, TimeNs step) {
  const TimeNs below = time - (time % step + step) % step;
  return time - below >= (step + 1) / 2 ? below + step : below;
}

bool ShowsAll(const TimelineView& view) {
  TimelineView all = view;
  all.ShowAll();
  return all.start_ns() == view.start_ns() && all.span_ns() == view.span_ns();
}

std::map<std::string, std::string> PartsOf(std::string_view link) {
  std::map<std::string, std::string> parts;
  while (!link.empty()) {
    const std::string_view part = link.substr(0, link.find('&'));
    link.remove_prefix(std::min(part.size() + 1, link.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const std::optional<std::string> value = PercentDecoded(part.substr(equals + 1));
    if (value) parts.emplace(part.substr(0, equals), *value);
  }
  return parts;
}

std::optional<TimeNs> TimeIn(const RowModel& model, std::string_view text) {
  const Result<std::int64_t> time = ParseTime(text);
  // Farther than any recording reaches sums would not hold.
  constexpr std::int64_t kFar = std::int64_t{1} << 61;
  if (!time.ok() || time.value() > kFar || time.value() < -kFar) return std::nullopt;
  return model.origin + time.value();
}

std::uint32_t RowWithId(const RowModel& model, const std::string& id) {
  for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
    if (model.rows[row].id == id) return row;
  }
  return kNone;
}

std::optional<EventRef> EventStartingAt(const RowModel& model, std::uint32_t row, TimeNs start) {
  const std::vector<Lane>& lanes = model.rows[row].lanes;
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    const std::size_t event = lanes[lane].FirstEndingAfter(start);
    if (event < lanes[lane].size() && lanes[lane].start(event) == start)
      return EventRef{row, lane, static_cast<std::uint32_t>(event)};
  }
  return std::nullopt;
}

}  // namespace

std::string ViewLink(const Timeline& timeline) {
  const RowModel& model = timeline.model();
  const TimelineView& view = timeline.view();
  std::string link;
  const auto add = [&link](std::string_view name, const std::string& value) {
    link += fmt::format("{}{}={}", link.empty() ? "" : "&", name, value);
  };
  if (!ShowsAll(view)) {
    const TimeNs step = StepOf(view);
    add("t", Seconds(Rounded(view.start_ns() - model.origin, step)) + ".." +
                 Seconds(Rounded(view.end_ns() - model.origin, step)));
  }
  if (const auto& selected = timeline.selection()) {
    add("row", PercentEncoded(model.rows[selected->row].id));
    add("event", Seconds(model.lane(*selected).start(selected->event) - model.origin));
  } else if (timeline.scroll_px() > 0 && !timeline.ScrolledRows().empty()) {
    add("row", PercentEncoded(model.rows[timeline.ScrolledRows().front()].id));
  }
  return link;
}

void FollowViewLink(std::string_view link, Timeline& timeline) {
  const RowModel& model = timeline.model();
  const std::map<std::string, std::string> parts = PartsOf(link);
  const auto part = [&parts](const char* name) {
    const auto found = parts.find(name);
    return found == parts.end() ? std::string() : found->second;
  };
  const std::string times = part("t");
  const std::size_t dots = times.find("..");
  if (dots != std::string::npos) {
    const auto from = TimeIn(model, times.substr(0, dots)),
               to = TimeIn(model, times.substr(dots + 2));
    if (from && to && *from < *to) timeline.Show(*from, *to);
  }
  const std::uint32_t row = RowWithId(model, part("row"));
  if (row == kNone) return;
  const auto start = TimeIn(model, part("event"));
  const auto event = start ? EventStartingAt(model, row, *start) : std::nullopt;
  if (event) timeline.Select(event);
  event ? timeline.RevealRow(row) : timeline.RevealAtTop(row);
}

}  // namespace traceinject
