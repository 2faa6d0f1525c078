// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/text_sections.h"

namespace traceinject {
namespace {

// Beside the other columns.
std::string Bar(double percent, std::size_t page_width) {
  constexpr std::size_t kOthers = 50, kLeast = 8, kMost = 40;
  const std::size_t width = std::clamp(page_width - std::min(page_width, kOthers), kLeast, kMost);
  const auto filled =
      static_cast<std::size_t>(std::lround(percent / 100 * static_cast<double>(width)));
  return std::string(filled, '#') + std::string(width - filled, '.');
}

}  // namespace

void WriteRatios(TextReport& to, const proto::Partition& p) {
  std::string text = fmt::format("busy {}", Percent(p.busy_share()));
  if (p.communication_ns() == 0) {
    text += "; no communication";
  } else {
    text += fmt::format("; communication {}, of which {} overlaps compute",
                        FormatTime(p.communication_ns()), Percent(p.overlap_share()));
    text += p.has_communication_to_compute()
                ? fmt::format(
                      "; communication / compute {:.3f} (raw: includes waiting for other ranks)",
                      p.communication_to_compute())
                : "; communication / compute unknown: no compute";
  }
  to.page.Sentence(text);
}

void WriteTime(TextReport& to) {
  const proto::Partition& p = to.report.run().partition();
  to.page.Heading(to.report.devices().size() == 1
                      ? "GPU time"
                      : fmt::format("GPU time, sum of {} GPUs", to.report.devices().size()));
  if (const proto::Withheld* withheld = FindWithheld(to, "partition", kAnySource))
    return to.page.Sentence("withheld: " + withheld->reason());
  TextRows rows;
  const auto add = [&](const char* name, double percent, std::int64_t ns) {
    if (ns > 0)
      rows.push_back(
          {name, Bar(percent, to.options.width), fmt::format("{:.3f} %", percent), FormatTime(ns)});
  };
  add("compute", p.compute_percent(), p.compute_ns());
  add("exposed communication", p.exposed_communication_percent(), p.exposed_communication_ns());
  add("exposed copies", p.exposed_copy_percent(), p.exposed_copy_ns());
  add("idle", p.idle_percent(), p.idle_ns());
  add("not recorded", p.unrecorded_percent(), p.unrecorded_ns());
  rows.push_back({"sum", "", "100.000 %", FormatTime(p.wall_ns())});
  to.page.Table(rows, 2, 3);
  WriteRatios(to, p);
}

void WriteSpreads(TextReport& to) {
  const proto::Run& run = to.report.run();
  const auto row = [](const char* name, const proto::Spread& s) {
    return std::vector<std::string>{
        name, Percent(s.min()), Percent(s.median()), Percent(s.max()), s.min_at(), s.max_at()};
  };
  to.page.Heading("Spread over the GPUs");
  to.page.Table({{"share of the window", "min", "median", "max", "min at", "max at"},
                 row("busy", run.busy_share()),
                 row("compute", run.compute_share()),
                 row("exposed communication", run.exposed_communication_share()),
                 row("exposed copies", run.exposed_copy_share()),
                 row("idle", run.idle_share())},
                1, 3);
}

void WriteDevices(TextReport& to) {
  to.page.Heading("Each GPU");
  TextRows rows = {
      {"", "window", "compute", "exp. comm", "exp. copy", "idle", "comm/comp", "overlap"}};
  for (const proto::DeviceReport& device : to.report.devices()) {
    if (FindWithheld(to, "partition", device.source()) != nullptr) {
      rows.push_back({device.label(), "withheld", "", "", "", "", "", ""});
      continue;
    }
    const proto::Partition& p = device.partition();
    const bool communicates = p.communication_ns() > 0;
    rows.push_back(
        {device.label(), FormatTime(p.wall_ns()), fmt::format("{:.3f} %", p.compute_percent()),
         fmt::format("{:.3f} %", p.exposed_communication_percent()),
         fmt::format("{:.3f} %", p.exposed_copy_percent()),
         fmt::format("{:.3f} %", p.idle_percent()),
         p.has_communication_to_compute() ? fmt::format("{:.3f}", p.communication_to_compute())
                                          : kUnknownText,
         communicates ? Percent(p.overlap_share()) : "none"});
  }
  to.page.Table(rows, 1, 7);
}

}  // namespace traceinject
