// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyzer/report/text/text_sections.h"

namespace traceinject {

void WriteHygiene(TextReport& to) {
  if (to.report.hygiene().empty()) return;
  to.page.Heading("Machine findings");
  for (const proto::HygieneFinding& finding : to.report.hygiene()) {
    to.page.Sentence(fmt::format("{}: {}", finding.severity(), finding.text()));
    to.page.Sentence("try: " + finding.change(), 4);
    to.page.Sentence("[" + finding.source() + "]", 8);
  }
}

}  // namespace traceinject
