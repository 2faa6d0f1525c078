// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/dump_state.h"

#include <fmt/format.h>

#include "analyzer/common/json_text.h"
#include "analyzer/view/rows/event_text.h"

namespace traceinject {
namespace {

class StateWriter {
 public:
  explicit StateWriter(const Workspace& workspace)
      : workspace_(workspace),
        timeline_(workspace.timeline()),
        model_(workspace.timeline().model()) {}

  std::string Write() const {
    const TimelineView& view = timeline_.view();
    const auto& mark = workspace_.selected_mark();
    return fmt::format(
        "{{\n\"view\": {{{}}},\n\"hover\": {},\n\"selection\": {},\n\"causes\": {},\n\"effects\": "
        "{},\n\"effects_left_out\": {},\n\"peers\": {},\n\"measure\": {},\n\"rows\": {},\n"
        "\"marks\": {},\n\"selected_mark\": {},\n\"panels\": {},\n\"problem\": {}\n}}\n",
        Times(view.start_ns(), view.end_ns()), EventOrNull(timeline_.hover()),
        EventOrNull(timeline_.selection()), Events(timeline_.selection_links().causes),
        Events(timeline_.selection_links().effects), timeline_.selection_links().effects_left_out,
        Events(timeline_.selection_links().peers), MeasureOrNull(), Rows(), Marks(),
        mark ? fmt::format("{}", *mark) : "null", Panels(),
        JsonString(workspace_.sidecar().problem()));
  }

 private:
  std::string Times(TimeNs start, TimeNs end) const {
    return fmt::format("\"from_ns\": {}, \"to_ns\": {}", start - model_.origin,
                       end - model_.origin);
  }

  std::string RowName(std::uint32_t row) const {
    const Rank& rank = timeline_.run().ranks[model_.rows[row].rank];
    return fmt::format("\"row\": {}, \"rank\": {}", JsonString(model_.rows[row].label),
                       rank.rank ? fmt::format("{}", *rank.rank) : "null");
  }

  std::string Event(const EventRef& ref) const {
    const auto [start, end] = EventTimes(timeline_.run(), model_, ref);
    return fmt::format("{{{}, \"lane\": {}, \"name\": {}, {}}}", RowName(ref.row), ref.lane,
                       JsonString(EventLabel(timeline_.run(), model_, ref)), Times(start, end));
  }

  std::string EventOrNull(const std::optional<EventRef>& ref) const {
    return ref ? Event(*ref) : "null";
  }

  // "[a, b]", one a line.
  template <typename Items, typename Write>
  static std::string List(const Items& items, Write write) {
    std::string text = "[";
    for (const auto& item : items) {
      text += text.size() > 1 ? ",\n " : "\n ";
      text += write(item);
    }
    return text + "]";
  }

  std::string Events(const std::vector<EventRef>& events) const {
    return List(events, [this](const EventRef& ref) { return Event(ref); });
  }

  std::string MeasureOrNull() const {
    if (!timeline_.measure()) return "null";
    const Measure& measure = *timeline_.measure();
    return fmt::format(
        "{{{}, {}}}", measure.row == kNone ? "\"row\": null, \"rank\": null" : RowName(measure.row),
        Times(measure.start, measure.end));
  }

  std::string Rows() const {
    const RowLayout& layout = timeline_.layout();
    const auto pinned = layout.PinnedRows(), others = timeline_.ScrolledRows();
    std::vector<std::uint32_t> rows(pinned.begin(), pinned.end());
    rows.insert(rows.end(), others.begin(), others.end());
    return List(rows, [this, &layout](std::uint32_t row) {
      const float top = timeline_.RowTop(row);
      return fmt::format("{{{}, \"lanes\": {}, \"top_px\": {}, \"bottom_px\": {}}}", RowName(row),
                         model_.rows[row].lanes.size(), top,
                         top + layout.bottom_px(row) - layout.top_px(row));
    });
  }

  std::string Marks() const {
    return List(workspace_.annotations().marks(), [this](const Mark& mark) {
      return fmt::format("{{{}, \"text\": {}, \"colour\": \"#{:06x}\"}}",
                         Times(mark.start, mark.end), JsonString(mark.text), mark.color >> 8);
    });
  }

  std::string Panels() const {
    std::string text;
    for (std::size_t i = 0; i < kPanels; ++i) {
      const auto panel = static_cast<Panel>(i);
      text += fmt::format("{}\"{}\": {}", i == 0 ? "" : ", ", PanelName(panel),
                          workspace_.IsShown(panel));
    }
    return "{" + text + "}";
  }

  const Workspace& workspace_;
  const Timeline& timeline_;
  const RowModel& model_;
};

}  // namespace

std::string DumpState(const Workspace& workspace) { return StateWriter(workspace).Write(); }

}  // namespace traceinject
