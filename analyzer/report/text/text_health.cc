// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/text_sections.h"

namespace traceinject {
namespace {

int GradeColor(proto::Health::Grade grade) {
  return grade == proto::Health::GRADE_GOOD ? 32 : grade == proto::Health::GRADE_BAD ? 31 : 33;
}

void WriteJoin(TextReport& to) {
  const proto::Join& join = to.report.run().join();
  if (join.has_share()) {
    to.page.Sentence(fmt::format("{} of {} GPU operations ({}) linked to their launch call",
                                 FormatCount(join.joined()), FormatCount(join.operations()),
                                 Percent(join.share(), 3)));
  } else {
    to.page.Sentence("linking of GPU operations to launch calls: unknown, " + join.reason());
  }
}

}  // namespace

void WriteHealth(TextReport& to) {
  const proto::Health& health = to.report.health();
  to.page.Heading("Trace health");
  to.page.Sentence(fmt::format("trace health: {}", to.page.Colored(HealthGradeText(health.grade()),
                                                                   GradeColor(health.grade()))));
  for (const std::string& reason : health.reasons()) to.page.Sentence("- " + reason);
  WriteJoin(to);
  to.page.Sentence(
      health.has_lost_share()
          ? fmt::format("records lost: {} of {} ({})", FormatCount(health.records_lost()),
                        FormatCount(health.records_seen()), Percent(health.lost_share(), 3))
          : "share of lost records: unknown, no counters");
  static constexpr const char* kSeverities[] = {"info", "notice", "data loss", "error"};
  TextRows rows = {{"severity", "process", "counter", "value", "meaning"}};
  for (const proto::HealthLine& line : health.lines()) {
    if (line.severity() == proto::HealthLine::SEVERITY_INFO) continue;
    rows.push_back({kSeverities[line.severity()], SourceLabel(to.report, line.source()),
                    line.name(), FormatCount(line.value()),
                    ShortenMiddle(line.detail().empty() ? line.text() : line.detail(), 50)});
  }
  if (rows.size() > 1) to.page.Table(rows, 3, 3);
}

// Only where something was found.
void WriteTrust(TextReport& to) {
  const proto::Trust& trust = to.report.trust();
  if (trust.findings().empty()) return;
  to.page.Heading("Trust");
  for (const proto::TrustFinding& finding : trust.findings())
    to.page.Sentence("- " + SourcePrefix(to.report, finding.source()) + finding.text());
  for (const proto::Withheld& withheld : trust.withheld())
    to.page.Sentence("- " + WithheldText(to.report, withheld));
}

}  // namespace traceinject
