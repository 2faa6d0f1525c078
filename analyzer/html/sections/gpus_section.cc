// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/html/charts/chart.h"
#include "analyzer/html/charts/downsample.h"
#include "analyzer/html/sections/html_table.h"
#include "analyzer/html/sections/sections.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/full_tables.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxBuckets = 200;
constexpr int kMaxDevices = 4;

struct Series {
  std::string mark, name;
  std::vector<Point> points;
};

// `value`: of a sample; empty: not known.
template <typename Samples, typename Value>
Series SeriesOf(std::string mark, std::string name, const Samples& samples, Value value) {
  Series series{std::move(mark), std::move(name), {}};
  for (const auto& sample : samples) {
    if (const auto known = value(sample))
      series.points.push_back({static_cast<double>(sample.time_ns()), *known});
  }
  return series;
}

template <typename Known>
std::optional<double> If(bool known, Known value) {
  return known ? std::optional(static_cast<double>(value)) : std::nullopt;
}

// Lines of the medians, with the extremes around them where points were put together.
void WriteSeries(const HtmlReport& to, const std::string& title, const std::string& unit,
                 std::vector<Series> all, std::string (*text)(double), double limit = 0,
                 const std::string& limit_text = {}) {
  std::erase_if(all, [](const Series& series) { return series.points.size() < 2; });
  if (all.empty()) return;
  double first = all[0].points[0].x, last = first, highest = limit;
  for (const Series& series : all) {
    first = std::min(first, series.points.front().x);
    last = std::max(last, series.points.back().x);
    for (const Point& point : series.points) highest = std::max(highest, point.y);
  }
  if (last <= first) return;
  Axis x{{first, last, false}, {}, "time after the first GPU operation"};
  Axis y{FromZero(highest), {}, unit};
  x.ticks = TicksOf(x.scale, 6, TimeTick);
  y.ticks = TicksOf(y.scale, 4, text);
  ChartText words{title, ""};
  for (const Series& series : all) {
    if (all.size() > 1) words.legend.push_back({"key-" + series.mark, series.name});
    const auto [low, high] =
        std::minmax_element(series.points.begin(), series.points.end(),
                            [](const Point& a, const Point& b) { return a.y < b.y; });
    words.description += fmt::format("{}{}: {} to {}", words.description.empty() ? "" : "; ",
                                     series.name, text(low->y), text(high->y));
  }
  Chart chart(to.out, words, std::move(x), std::move(y), 140);
  for (const Series& series : all) {
    const std::vector<Bucket> buckets = Downsample(series.points, kMaxBuckets);
    std::vector<RangePoint> range;
    std::vector<Point> median;
    for (const Bucket& bucket : buckets) {
      const double at = (bucket.from_x + bucket.to_x) / 2;
      range.push_back({at, bucket.low, bucket.high});
      median.push_back({at, bucket.median});
    }
    if (buckets.size() < series.points.size()) chart.Area(range, "around " + series.mark);
    chart.Line(median, "line-" + series.mark);
  }
  if (limit > 0) chart.Rule(limit, "roof", limit_text);
}

std::string MegahertzTick(double mhz) { return PlainTick(mhz) + " MHz"; }
std::string WattTick(double watts) { return PlainTick(watts) + " W"; }
std::string CelsiusTick(double degrees) { return PlainTick(degrees) + " C"; }

void WriteMemory(const HtmlReport& to, const proto::DeviceReport& device) {
  const auto& samples = device.memory_samples();
  using Sample = proto::MemorySample;
  WriteSeries(
      to, "Memory", "",
      {SeriesOf("used", "used, all processes", device.device_samples(),
                [](const proto::DeviceSample& s) {
                  return If(s.has_memory_used_bytes(), s.memory_used_bytes());
                }),
       SeriesOf("reserved", "reserved by PyTorch", samples,
                [](const Sample& s) { return If(s.has_reserved_bytes(), s.reserved_bytes()); }),
       SeriesOf("allocated", "in tensors", samples,
                [](const Sample& s) { return If(s.has_allocated_bytes(), s.allocated_bytes()); })},
      BytesTick);
}

void WriteCard(const HtmlReport& to, const proto::DeviceReport& device) {
  const auto& samples = device.device_samples();
  using Sample = proto::DeviceSample;
  const proto::Telemetry& told = device.telemetry();
  WriteSeries(
      to, "SM clock", "",
      {SeriesOf("clock", "SM clock", samples,
                [](const Sample& s) { return If(s.has_sm_clock_mhz(), s.sm_clock_mhz()); })},
      MegahertzTick, told.highest_sm_clock_mhz(),
      fmt::format("max {:.0f} MHz", told.highest_sm_clock_mhz()));
  WriteSeries(to, "Power", "",
              {SeriesOf("power", "power", samples,
                        [](const Sample& s) { return If(s.has_power_w(), s.power_w()); })},
              WattTick, told.power_limit_w(), fmt::format("limit {:.0f} W", told.power_limit_w()));
  WriteSeries(
      to, "Temperature", "",
      {SeriesOf("temperature", "temperature", samples,
                [](const Sample& s) { return If(s.has_temperature_c(), s.temperature_c()); })},
      CelsiusTick);
}

void WriteDevice(const HtmlReport& to, const proto::DeviceReport& device) {
  {
    Reused reused(to);
    TextReport& text = reused.text();
    text.page.Heading(WithDetail(device.label(), device.name()));
    WritePeaks(text, device);
    if (device.has_telemetry()) traceinject::WriteTelemetry(text, device.telemetry());
    WriteAllocator(text, device);
  }
  const auto grid = to.out.Open("div", {{"class", "pair"}});
  WriteMemory(to, device);
  WriteCard(to, device);
}

bool HasGpus(const HtmlReport& to) { return !to.report.devices().empty(); }

void WriteGpus(const HtmlReport& to) {
  const proto::DeviceReport* judged = JudgedDevice(to.report);
  WriteDevice(to, *judged);
  int shown = 1;
  for (const proto::DeviceReport& device : to.report.devices()) {
    if (&device == judged) continue;
    if (shown == kMaxDevices) {
      to.out.Leaf("p",
                  fmt::format("{} more GPUs are not shown; analyze report lists all",
                              FormatCount(to.report.devices_size() - shown)),
                  {{"class", "note"}});
      break;
    }
    WriteDevice(to, device);
    ++shown;
  }
  {
    Reused reused(to);
    TextReport& text = reused.text();
    text.page.Heading("Copies");
    WriteCopies(text, to.report.run().copies(), kAllRows);
    if (to.report.run().has_memory_calls()) {
      text.page.Heading("Memory calls");
      WriteMemoryCalls(text, to.report.run().memory_calls());
    }
    if (judged->link_findings_size() > 0) {
      text.page.Heading("What copies and communication show");
      WriteLinkFindings(text, *judged);
    }
  }
  if (to.report.data_loaders().empty()) return;
  to.out.Leaf("h3", "Data loaders");
  WriteHtmlTable(
      to.out, DataLoaderTable(to.report),
      {.caption = "Data loaders of each process", .where_all = "analyze data --loaders"});
}

}  // namespace

const HtmlSection kGpusSection = {"gpus", "GPUs: memory, clocks, copies", HasGpus, WriteGpus};

}  // namespace traceinject
