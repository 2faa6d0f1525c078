// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/common/whole.h"
#include "analyzer/html/charts/flame.h"
#include "analyzer/html/sections/html_table.h"
#include "analyzer/html/sections/sections.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/full_tables.h"

namespace traceinject {
namespace {

constexpr std::size_t kCodeRows = 20;
// Of a frame: as much of a file's name and of a function as one reads.
constexpr std::size_t kNameBytes = 120, kFileBytes = 200;
// Of a sample: what the tip of a frame leaves out.
constexpr double kLeastTold = 0.001;

using Parts = google::protobuf::RepeatedPtrField<proto::FlamePart>;

// A flame, and what its samples stand for.
struct FlameOf {
  const proto::HostFlame& flame;
  std::int64_t steps;
  bool per_step;

  std::string per() const { return per_step ? " per step" : ""; }
  double ns_of(double samples) const {
    return samples * static_cast<double>(flame.sample_ns()) / static_cast<double>(steps);
  }
  // "8.478 ms per step, 74.2 %"
  std::string AmountText(double samples) const {
    const std::string share = Percent(samples / flame.samples());
    if (!flame.has_sample_ns()) return share;
    return fmt::format("{}{}, {}", FormatTime(Whole(ns_of(samples))), per(), share);
  }
};

std::string ThreadText(const proto::HostFlame& flame) {
  return flame.thread_name().empty() ? fmt::format("thread {}", flame.thread())
                                     : fmt::format("{} ({})", flame.thread_name(), flame.thread());
}

std::vector<BarPart> BarPartsOf(const Parts& parts) {
  std::vector<BarPart> bars;
  for (const proto::FlamePart& part : parts)
    bars.push_back({MarkOf(part.state()), part.state(), part.samples(), ""});
  return bars;
}

// "GPU meanwhile: idle: python 95.2 %, compute 4.8 %"; the largest first.
std::string GpuText(const Parts& parts, double samples) {
  std::vector<const proto::FlamePart*> order;
  for (const proto::FlamePart& part : parts) {
    if (part.samples() >= kLeastTold * samples) order.push_back(&part);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->samples() > b->samples(); });
  std::string text;
  for (const proto::FlamePart* part : order)
    text += fmt::format("{}{} {}", text.empty() ? "GPU meanwhile: " : ", ", part->state(),
                        Percent(part->samples() / samples));
  return text;
}

// "augment plant.py:11": what tells most comes first, as a narrow frame shows no more.
std::string NameOf(const proto::FlameFrame& frame) {
  const std::string function = " in " + frame.function();
  std::string place = frame.place();
  if (!place.ends_with(function)) return ShortenMiddle(place, kNameBytes);
  place.resize(place.size() - function.size());
  return ShortenMiddle(frame.function(), kNameBytes) + " " + ShortenMiddle(place, kNameBytes);
}

FlameBox BoxOf(const FlameOf& of, const proto::FlameFrame& frame) {
  std::string tip = ShortenMiddle(frame.function(), kNameBytes);
  tip += ", " + ShortenMiddle(frame.file(), kFileBytes);
  if (frame.line() > 0) tip += fmt::format(":{}", frame.line());
  tip += fmt::format("{}. {}. {}", frame.own() ? "" : " (library)", of.AmountText(frame.samples()),
                     GpuText(frame.parts(), frame.samples()));
  return {static_cast<std::size_t>(frame.depth()) + 1,
          frame.samples(),
          frame.own(),
          NameOf(frame),
          tip,
          BarPartsOf(frame.parts())};
}

// States that can be seen, and what sets frames apart.
std::vector<ChartKey> FlameLegend(const proto::HostFlame& flame) {
  std::vector<ChartKey> legend = {{"key-own", "the program's own code"},
                                  {"key-library", "libraries"}};
  for (const proto::FlamePart& part : flame.parts()) {
    if (IsSeen(part.samples(), flame.samples()))
      legend.push_back({MarkOf(part.state()), part.state()});
  }
  return legend;
}

void WriteOneFlame(const HtmlReport& to, const FlameOf& of) {
  const proto::HostFlame& flame = of.flame;
  const std::string name = ThreadText(flame);
  const std::string amount = of.AmountText(flame.samples());
  std::vector<FlameBox> boxes = {
      {0, flame.samples(), false, name,
       fmt::format("{}. {}. {}", name, amount, GpuText(flame.parts(), flame.samples())),
       BarPartsOf(flame.parts())}};
  for (const proto::FlameFrame& frame : flame.frames()) boxes.push_back(BoxOf(of, frame));
  const double ns = of.ns_of(flame.samples());
  std::string title = "Host time of " + name;
  if (ns > 0) title += fmt::format(": {}{}", FormatTime(Whole(ns)), of.per());
  title += fmt::format(", {}", Plural(Whole(flame.samples()), "sample"));
  WriteFlame(to.out, {title, FlameLegend(flame), name, ns, of.per()}, boxes);
}

std::string FlameNote(const proto::DeviceReport& device) {
  std::string text =
      "Frames hang below their callers; the width is the time in which the thread was seen there, "
      "and the strip below a name tells what the GPU did meanwhile, thin where it was busy. Click "
      "a frame, or press Enter "
      "on it, to zoom in; the arrow keys move, Esc zooms out.";
  std::int64_t left = 0;
  for (const proto::HostFlame& flame : device.host_flames()) left += flame.left_out();
  if (left > 0)
    text += fmt::format(
        " {} with less than 0.1 % of a thread's time, or beyond what a flame "
        "holds, {} left out; analyze export --format speedscope has all.",
        Plural(left, "frame"), left == 1 ? "is" : "are");
  return text;
}

// Without those that the GPU neither waited for nor got work from: these are in the flame.
Table LinesOfGpu(const proto::Report& report) {
  Table lines = CodeLineTable(report);
  const auto idle = FindColumn(lines.columns, "idle_ns"),
             kernels = FindColumn(lines.columns, "kernel_ns");
  std::erase_if(lines.rows, [&](const std::vector<Cell>& row) {
    return row[*idle] == Cell(std::int64_t{0}) && row[*kernels] == Cell(std::int64_t{0});
  });
  return lines;
}

bool HasCode(const HtmlReport& to) {
  const proto::DeviceReport* device = JudgedDevice(to.report);
  return device != nullptr && device->host_flames_size() > 0;
}

void WriteCode(const HtmlReport& to) {
  const proto::DeviceReport& device = *JudgedDevice(to.report);
  const proto::DeviceSteps* steps = JudgedSteps(to.report);
  const bool per_step = steps != nullptr && steps->confidence() > 0;
  WriteFlameControls(to.out, static_cast<std::size_t>(device.host_flames_size()));
  for (const proto::HostFlame& flame : device.host_flames())
    WriteOneFlame(to, {flame, std::max<std::int64_t>(1, device.code_steps()), per_step});
  to.out.Leaf("p", FlameNote(device), {{"class", "note"}});
  to.out.Leaf("h3", "Lines that the GPU waited for");
  WriteHtmlTable(
      to.out, LinesOfGpu(to.report),
      {.caption = "Lines by the idle time of the GPU, over the steps that the verdict judges",
       .rows = kCodeRows,
       .where_all = "analyze code shows all",
       .order = "idle_ns"});
}

}  // namespace

const HtmlSection kCodeSection = {"code", "Where in the program", HasCode, WriteCode};

}  // namespace traceinject
