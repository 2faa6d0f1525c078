// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/timeline/timeline_data.h"

#include <fmt/format.h>

#include <charconv>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "analyzer/common/json_text.h"
#include "analyzer/view/style/theme.h"

namespace traceinject {
namespace {

std::string HexColor(Rgba color) {
  return (color & 0xffU) == 0xffU ? fmt::format("\"#{:06x}\"", color >> 8U)
                                  : fmt::format("\"#{:08x}\"", color);
}

// Numbers of spans, one span after the other.
class Packed {
 public:
  void Add(std::initializer_list<std::int64_t> numbers) {
    if (!text_.empty()) text_ += ',';
    bool first = true;
    for (const std::int64_t number : numbers) {
      if (!std::exchange(first, false)) text_ += ' ';
      char digits[65];
      const auto end = std::to_chars(digits, digits + sizeof digits, number, 36);
      text_.append(digits, end.ptr);
    }
  }
  std::string Json() const { return '"' + text_ + '"'; }

 private:
  std::string text_;
};

// Items with commas between them.
template <typename Items, typename Write>
std::string List(const Items& items, Write write) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    text += write(item);
  }
  return text + ']';
}

class DataWriter {
 public:
  explicit DataWriter(const Excerpt& excerpt)
      : excerpt_(excerpt), start_(excerpt.chosen.time.start) {}

  std::string Write() const {
    const Interval time = excerpt_.chosen.time;
    return fmt::format(
        R"({{"start":{},"span":{},"cell":{},"rows":{},"looks":{},"colors":{},"categories":{},)"
        R"("waitAlpha":{},"gaps":{},"places":{},"themes":{{"light":{},"dark":{}}}}})",
        time.start - excerpt_.origin, time.end - time.start, excerpt_.cell_ns,
        List(excerpt_.rows, [this](const ExcerptRow& row) { return RowText(row); }),
        List(excerpt_.looks,
             [](const ExcerptLook& look) {
               return fmt::format("[{},{}]", JsonString(look.name), look.color);
             }),
        List(excerpt_.colors,
             [](const ExcerptColor& color) {
               return fmt::format("[{},{},{}]", HexColor(color.color),
                                  HexColor(TextColorOn(color.color)), JsonString(color.text));
             }),
        List(excerpt_.categories, HexColor), static_cast<double>(kWaitAlpha) / 255,
        List(excerpt_.gaps, [this](const RowGap& gap) { return GapText(gap); }),
        List(excerpt_.places,
             [this](const std::optional<ExcerptPlace>& place) { return PlaceText(place); }),
        ThemeText(LightTheme()), ThemeText(DarkTheme()));
  }

 private:
  std::string RowText(const ExcerptRow& row) const {
    std::string text = fmt::format(
        R"({{"label":{},"note":{},"depth":{},"heading":{},"stacked":{},"pad":{},"lane":{},"lanes":{})",
        JsonString(row.label), JsonString(row.note), row.depth, row.heading, row.by_category,
        row.lane_top_px - row.top_px, row.lane_px,
        List(row.lanes, [&](const std::vector<ExcerptSpan>& lane) { return LaneText(row, lane); }));
    if (!row.counter.empty())
      text += fmt::format(R"(,"counter":{},"most":{})", CounterText(row.counter), row.most);
    return text + '}';
  }

  std::string LaneText(const ExcerptRow& row, const std::vector<ExcerptSpan>& lane) const {
    Packed packed;
    TimeNs before = start_;
    for (const ExcerptSpan& span : lane) {
      const ThinSpan& time = span.time;
      const TimeNs gap = time.start - std::exchange(before, time.end);
      const TimeNs length = time.end - time.start;
      if (!time.merged() && span.wait == 0)
        packed.Add({gap, length, span.look});
      else if (!time.merged())
        packed.Add({gap, length, span.look, span.wait});
      else if (!row.by_category)
        packed.Add({gap, length, span.look, time.count, time.busy});
      else
        packed.Add(
            {gap, length, span.look, time.count, time.busy, time.mix[0], time.mix[1], time.mix[2]});
    }
    return packed.Json();
  }

  std::string CounterText(const std::vector<CounterSpan>& counter) const {
    Packed packed;
    TimeNs before = start_;
    for (const CounterSpan& span : counter)
      packed.Add({span.start - std::exchange(before, span.end), span.end - span.start,
                  span.range.least, span.range.most});
    return packed.Json();
  }

  std::string GapText(const RowGap& gap) const {
    return fmt::format("[{},{},{}]", gap.start - start_, gap.end - start_, JsonString(gap.text));
  }

  std::string PlaceText(const std::optional<ExcerptPlace>& place) const {
    if (!place) return "null";
    return fmt::format("[{},{},{}]", place->time.start - start_, place->time.end - start_,
                       place->row);
  }

  static std::string ThemeText(const Theme& theme) {
    const std::pair<std::string_view, Rgba> colors[] = {{"background", theme.background},
                                                        {"heading", theme.heading},
                                                        {"tint", theme.row_tint},
                                                        {"ruler", theme.ruler},
                                                        {"text", theme.text},
                                                        {"dim", theme.dim_text},
                                                        {"grid", theme.grid},
                                                        {"divider", theme.divider},
                                                        {"selected", theme.selected},
                                                        {"hovered", theme.hovered},
                                                        {"place", theme.measure_fill},
                                                        {"placeEdge", theme.measure_edge},
                                                        {"missing", theme.not_recorded},
                                                        {"counter", theme.counter}};
    std::string text;
    for (const auto& [name, color] : colors)
      text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", name, HexColor(color));
    return '{' + text + '}';
  }

  const Excerpt& excerpt_;
  TimeNs start_;
};

}  // namespace

std::string TimelineData(const Excerpt& excerpt) { return DataWriter(excerpt).Write(); }

}  // namespace traceinject
