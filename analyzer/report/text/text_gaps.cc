// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/kernel_names.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/text_sections.h"

namespace traceinject {

void WriteIdleCauses(TextReport& to, const proto::IdleCauses& causes, std::int64_t idle_ns,
                     int source) {
  for (const char* figures : {"partition", "gap_causes"}) {
    if (const proto::Withheld* withheld = FindWithheld(to, figures, source))
      return to.page.Sentence("causes of idle time: withheld, " + withheld->reason());
  }
  if (idle_ns == 0) return to.page.Sentence("never idle");
  const auto part = [&](const char* name, std::int64_t ns) {
    return fmt::format("{} {} ({})", name, FormatTime(ns), FormatShare(ns, idle_ns));
  };
  to.page.Sentence(fmt::format(
      "idle {} in {}: {}, {}, {}, {}", FormatTime(idle_ns), Plural(causes.gap_count(), "gap"),
      part("host late", causes.host_late_ns()), part("launch latency", causes.launch_latency_ns()),
      part("queued", causes.queued_ns()), part("unknown", causes.unknown_ns())));
}

void WriteCaptureGaps(TextReport& to, const proto::DeviceReport& device) {
  for (const proto::CaptureGap& gap : device.capture_gaps()) {
    to.page.Sentence(
        fmt::format("not recorded: {} to {} ({}): time shown as idle there may not have been idle",
                    FormatTime(gap.start_ns()), FormatTime(gap.end_ns()), gap.reason()));
  }
}

void WriteGaps(TextReport& to, const proto::DeviceReport& device) {
  const std::size_t count =
      std::min(to.options.gaps, static_cast<std::size_t>(device.longest_gaps_size()));
  std::vector<std::string> enders;
  for (std::size_t i = 0; i < count; ++i)
    enders.push_back(device.longest_gaps(static_cast<int>(i)).ended_by());
  constexpr std::size_t kBeforeName = 38;
  enders = ShortKernelNames(enders, std::max<std::size_t>(20, to.options.width - kBeforeName));
  for (std::size_t i = 0; i < count; ++i) {
    const proto::Gap& gap = device.longest_gaps(static_cast<int>(i));
    to.page.Line(fmt::format("  {:>9} at {}{}", FormatTime(gap.duration_ns()),
                             FormatTime(gap.start_ns()),
                             gap.has_ended_by() ? ", ended by " + enders[i] : ""));
    to.page.Sentence(gap.text(), 12);
  }
  WriteMore(to, count, device.longest_gaps_size());
}

}  // namespace traceinject
