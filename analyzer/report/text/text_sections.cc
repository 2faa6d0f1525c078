// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/text/text_sections.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceinject {

void WriteMore(TextReport& to, std::size_t shown, int all) {
  const std::size_t left =
      static_cast<std::size_t>(all) - std::min(shown, static_cast<std::size_t>(all));
  if (left > 0) to.page.Sentence(fmt::format("({} more in --format json)", left));
}

const proto::Withheld* FindWithheld(const TextReport& to, std::string_view figures, int source) {
  for (const proto::Withheld& withheld : to.report.trust().withheld()) {
    if (withheld.figures() == figures && (source == kAnySource || withheld.source() == source))
      return &withheld;
  }
  return nullptr;
}

std::string RunName(const TextReport& to) {
  if (!to.options.run.empty()) return to.options.run;
  return to.report.sources().empty() ? "RUN" : to.report.sources(0).path();
}

}  // namespace traceinject
