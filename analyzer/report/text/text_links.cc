// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/ranks_tables.h"
#include "analyzer/report/text/text_sections.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxLinks = 12;  // rows
constexpr int kMaxSlowGroups = 4;      // of a row

void WriteSlowGroups(const proto::Link& row, TextPage& page) {
  const std::string what =
      fmt::format("{} of {}", row.function(), MessageSize(row.bucket_low_bytes(), false));
  int shown = 0;
  for (const proto::SlowGroup& slow : row.slow()) {
    if (++shown > kMaxSlowGroups) break;
    page.Sentence(fmt::format("slow: {} among {}: {:.1f} GB/s, {:.2f} times as long as usual{}",
                              what, slow.ranks(), slow.busbw_gb_per_s(), slow.ratio(),
                              slow.link().empty() ? "" : " (" + slow.link() + ")"));
  }
  if (row.slow_groups() > kMaxSlowGroups)
    page.Sentence(fmt::format("slow: {} more groups, {}",
                              FormatCount(row.slow_groups() - kMaxSlowGroups), what));
}

}  // namespace

void WriteLinks(const proto::Ranks& ranks, TextPage& page, std::size_t width) {
  if (ranks.links_size() == 0) return;
  page.Heading("Links between ranks (transfer time without waiting)");
  Table table = LinkTable(ranks);
  if (table.rows.size() > kMaxLinks) table.rows.resize(kMaxLinks);
  WriteTable(table, {.width = width}, page);
  if (ranks.links_size() > static_cast<int>(kMaxLinks))
    page.Sentence(fmt::format("({} more that take less time; see --format json)",
                              FormatCount(ranks.links_size() - static_cast<int>(kMaxLinks))));
  std::vector<std::string> reasons;
  bool latency = false, waiting = false;
  for (int i = 0; i < std::min(ranks.links_size(), static_cast<int>(kMaxLinks)); ++i) {
    const proto::Link& row = ranks.links(i);
    latency |= row.latency_bound();
    waiting |= row.waiting_included();
    WriteSlowGroups(row, page);
    // What is expected of small messages does not matter.
    const bool told = row.latency_bound() || row.reason().empty() ||
                      std::find(reasons.begin(), reasons.end(), row.reason()) != reasons.end();
    if (!told) reasons.push_back(row.reason());
  }
  if (latency) page.Sentence("* below 1 MiB: latency-bound, not suitable for comparing bandwidths");
  if (waiting)
    page.Sentence(
        "not all ranks of every group were recorded: transfer times may include waiting there");
  if (ranks.of_operations()) return;  // which know nothing of transports
  for (const std::string& reason : reasons) page.Sentence("link: " + reason);
}

}  // namespace traceinject
