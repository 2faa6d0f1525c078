// SPDX-License-Identifier: Apache-2.0
#include "viewer/app/bench_frames.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <ctime>
#include <utility>
#include <vector>

#include "viewer/platform/headless.h"
#include "viewer/ui/viewer_ui.h"

namespace traceinject {
namespace {

constexpr TimeNs kShortestNs = 1'000'000;
constexpr int kZoomFactor = 4;
constexpr int kSettlingFrames = 3;

// Of this thread: what other programs do meanwhile must not count.
double CpuMs() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

struct Samples {
  std::vector<double> query_ms, frame_ms, draw_commands, vertices;
};

std::string Quantiles(std::vector<double> values, int decimals) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const auto last = static_cast<double>(values.size() - 1);
    return values[static_cast<std::size_t>(share * last + 0.5)];
  };
  return fmt::format(R"({{"p50": {:.{}f}, "p95": {:.{}f}, "max": {:.{}f}}})", at(0.5), decimals,
                     at(0.95), decimals, values.back(), decimals);
}

std::string ToJson(const Samples& samples) {
  return fmt::format(R"("query_ms": {}, "frame_ms": {}, "draw_commands": {}, "vertices": {})",
                     Quantiles(samples.query_ms, 3), Quantiles(samples.frame_ms, 3),
                     Quantiles(samples.draw_commands, 0), Quantiles(samples.vertices, 0));
}

void Append(Samples& all, const Samples& some) {
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(all.query_ms, some.query_ms);
  append(all.frame_ms, some.frame_ms);
  append(all.draw_commands, some.draw_commands);
  append(all.vertices, some.vertices);
}

class Frames {
 public:
  Frames(std::unique_ptr<const LoadedRun> loaded, int width_px, int height_px, float scale)
      : screen_(width_px, height_px, scale), ui_("a benchmark") {
    ui_.KeepNothing();
    ui_.SetLoaded(std::move(loaded), std::nullopt, std::nullopt);
    OpenStacks();
    // What panels work out beside the window would take time from the frames.
    ui_.WaitForPanels();
    for (int i = 0; i < kSettlingFrames; ++i) Draw();
  }

  void Measure(TimeNs start, TimeNs end, Samples& samples) {
    ui_.Show(start, end);
    samples.query_ms.push_back(QueryAll());
    const double begun = CpuMs();
    Draw();
    samples.frame_ms.push_back(CpuMs() - begun);
    const ImDrawData& data = *ImGui::GetDrawData();
    int commands = 0;
    for (int i = 0; i < data.CmdListsCount; ++i) commands += data.CmdLists[i]->CmdBuffer.Size;
    samples.draw_commands.push_back(commands);
    samples.vertices.push_back(data.TotalVtxCount);
  }

  const RowModel& model() const { return ui_.timeline()->model(); }

 private:
  // What takes most to draw.
  void OpenStacks() {
    ui_.workspace()->timeline().ChangeRows([this](RowList& list) {
      for (std::uint32_t row = 0; row < model().rows.size(); ++row) {
        if (model().rows[row].kind == RowKind::kCode) list.ToggleCollapsed(row);
      }
    });
  }

  void Draw() {
    screen_.Frame([this] { ui_.Frame({}); });
  }

  double QueryAll() {
    const Timeline& timeline = *ui_.timeline();
    const TimelineView& view = timeline.view();
    const float top = timeline.scroll_px();
    const auto rows = timeline.layout().RowsBetween(top, top + timeline.Plot().height());
    const double begun = CpuMs();
    for (const std::uint32_t row : rows) {
      for (const Lane& lane : model().rows[row].lanes) {
        lane.Query(view.start_ns(), view.end_ns(), view.ns_per_px(), spans_);
      }
    }
    return CpuMs() - begun;
  }

  HeadlessScreen screen_;
  ViewerUi ui_;
  std::vector<LaneSpan> spans_;
};

std::vector<TimeNs> Spans(TimeNs longest) {
  std::vector<TimeNs> spans;
  for (TimeNs span = longest; span > kShortestNs; span /= kZoomFactor) spans.push_back(span);
  spans.push_back(std::min(kShortestNs, longest));
  return spans;
}

}  // namespace

std::string BenchFrames(std::unique_ptr<const LoadedRun> loaded, const OpeningTimes& opening,
                        const ViewerOptions& options) {
  std::size_t events = 0, lanes = 0, lane_bytes = 0;
  for (const Row& row : loaded->rows.rows) {
    lanes += row.lanes.size();
    for (const Lane& lane : row.lanes) {
      lane_bytes += lane.memory_bytes();
      if (!IsDerived(row.kind)) events += lane.size();
    }
  }
  Frames frames(std::move(loaded), options.width_px, options.height_px, options.scale.value_or(1));
  const RowModel& model = frames.model();
  const std::vector<TimeNs> spans = Spans(std::max<TimeNs>(model.end - model.start, 1));
  const int frames_a_zoom = std::max(options.bench_frames / static_cast<int>(spans.size()), 1);
  Samples all;
  std::string zooms;
  for (const TimeNs span : spans) {
    Samples samples;
    for (int i = 0; i < frames_a_zoom; ++i) {
      const double share = (i + 0.5) / frames_a_zoom;
      const auto room = static_cast<double>(model.end - model.start - span);
      const TimeNs start = model.start + static_cast<TimeNs>(share * room);
      frames.Measure(start, start + span, samples);
    }
    Append(all, samples);
    zooms += fmt::format("{}\n    {{\"span_ns\": {}, {}}}", zooms.empty() ? "" : ",", span,
                         ToJson(samples));
  }
  return fmt::format(
      "{{\"events\": {}, \"rows\": {}, \"lanes\": {}, \"lane_bytes\": {},\n"
      "  \"first_rows_s\": {:.3f}, \"whole_s\": {:.3f},\n"
      "  \"width_px\": {}, \"height_px\": {}, \"frames\": {},\n  {},\n  \"zooms\": [{}]}}\n",
      events, model.rows.size(), lanes, lane_bytes, opening.first_rows_s, opening.whole_s,
      options.width_px, options.height_px, all.frame_ms.size(), ToJson(all), zooms);
}

}  // namespace traceinject
