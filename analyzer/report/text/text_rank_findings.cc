// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/text/text_sections.h"

namespace traceinject {

void WriteRankFindings(const Repeated<proto::RankFinding>& findings, ReportPage& page) {
  for (const proto::RankFinding& finding : findings) {
    page.Sentence(page.Colored(finding.name(), 1) + ": " + finding.text());
    for (const std::string& evidence : finding.evidence()) page.Sentence("- " + evidence, 4);
    for (const std::string& lever : finding.levers()) page.Sentence("try: " + lever, 4);
  }
}

}  // namespace traceinject
