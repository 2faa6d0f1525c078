// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/view_link.h"

#include <algorithm>
#include <map>
#include <optional>

#include "analyzer/common/units.h"
#include "analyzer/http/url_text.h"
#include "viewer/serve/link_text.h"

namespace traceinject {
namespace {

// Of the time that is shown: less than a pixel.
constexpr TimeNs kStepsOfView = 20'000;
constexpr std::string_view kAll = "all";

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

std::string ViewLink(const Timeline& timeline, bool names_all) {
  const RowModel& model = timeline.model();
  const TimelineView& view = timeline.view();
  std::string link;
  if (!ShowsAll(view)) {
    const TimeNs step = StepOf(view);
    const auto time = [&](TimeNs at) { return SecondsText(Rounded(at - model.origin, step)); };
    AddToLink("t", time(view.start_ns()) + ".." + time(view.end_ns()), link);
  } else if (names_all) {
    AddToLink("t", kAll, link);
  }
  if (const auto& selected = timeline.selection()) {
    AddToLink("row", PercentEncoded(model.rows[selected->row].id), link);
    const TimeNs start = model.lane(*selected).start(selected->event);
    AddToLink("event", SecondsText(start - model.origin), link);
  } else if (timeline.scroll_px() > 0 && !timeline.ScrolledRows().empty()) {
    AddToLink("row", PercentEncoded(model.rows[timeline.ScrolledRows().front()].id), link);
  }
  return link;
}

void FollowViewLink(std::string_view link, HiddenRow hidden, Timeline& timeline) {
  const RowModel& model = timeline.model();
  const std::map<std::string, std::string> parts = LinkParts(link);
  const auto part = [&parts](const char* name) {
    const auto found = parts.find(name);
    return found == parts.end() ? std::string() : found->second;
  };
  if (part("t") == kAll) timeline.Do(CommandId::kShowAll);
  if (const auto times = TimesOfLink(part("t")))
    timeline.Show(model.origin + times->first, model.origin + times->second);
  const std::uint32_t row = RowWithId(model, part("row"));
  if (row == kNone) return;
  const auto start = TimeOfLink(part("event"));
  const auto event = start ? EventStartingAt(model, row, model.origin + *start) : std::nullopt;
  if (event) timeline.Select(event);
  if (hidden == HiddenRow::kKeep && !timeline.layout().Shows(row)) return;
  event ? timeline.RevealRow(row) : timeline.RevealAtTop(row);
}

}  // namespace traceinject
