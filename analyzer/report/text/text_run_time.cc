// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/text_sections.h"

namespace traceinject {
namespace {

// "data workers starting 812.0 ms at train.py:41 in main; unknown 20.1 ms".
std::string HostWaits(const proto::RunTime& time) {
  std::string text;
  for (const proto::HostWaitReason& wait : time.host_waits()) {
    text += fmt::format("{}{} {}{}", text.empty() ? "" : "; ", wait.reason(), FormatTime(wait.ns()),
                        wait.place().empty() ? "" : " at " + wait.place());
  }
  return text;
}

}  // namespace

void WriteRunTime(TextReport& to, const proto::DeviceSteps& steps) {
  if (!steps.has_run_time()) return;
  const proto::RunTime& time = steps.run_time();
  to.page.Heading("The recorded time of " + steps.label());
  to.page.Sentence(fmt::format("goodput {}: share of the recorded {} in regular training steps",
                               Percent(time.goodput()), FormatTime(time.recorded_ns())));
  TextRows rows = {{"", "share", "time", "steps"}};
  for (const proto::TimeUse& use : time.uses()) {
    rows.push_back({use.name(), FormatShare(use.ns(), time.recorded_ns()), FormatTime(use.ns()),
                    use.steps() > 0 ? FormatCount(use.steps()) : ""});
  }
  to.page.Table(rows, 1, 3);
  if (const std::string waits = HostWaits(time); !waits.empty())
    to.page.Sentence("host wait: " + waits);
}

}  // namespace traceinject
