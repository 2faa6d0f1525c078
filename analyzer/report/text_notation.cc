// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/text_notation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/common/units.h"

namespace traceinject {

std::string Percent(double share, int decimals) {
  return fmt::format("{:.{}f} %", 100 * share, decimals);
}

std::string Rounded(double ns) { return FormatTime(static_cast<std::int64_t>(std::llround(ns))); }

std::string Plural(std::int64_t count, std::string_view noun, std::string_view ending) {
  return fmt::format("{} {}{}", FormatCount(count), noun, count == 1 ? "" : ending);
}

std::string SourceLabel(const proto::Report& report, int index) {
  const proto::Source& source = report.sources(index);
  if (!source.has_rank()) return fmt::format("pid {}", source.pid());
  const auto of_that_rank = std::count_if(
      report.sources().begin(), report.sources().end(),
      [&](const proto::Source& each) { return each.has_rank() && each.rank() == source.rank(); });
  return of_that_rank > 1 ? fmt::format("rank {} pid {}", source.rank(), source.pid())
                          : fmt::format("rank {}", source.rank());
}

}  // namespace traceinject
