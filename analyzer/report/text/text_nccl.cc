// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/text_sections.h"

namespace traceinject {
namespace {

std::string CarriedOut(const proto::NcclRow& row) {
  if (row.function().rfind("Send", 0) == 0 || row.function() == "Recv") return "-";  // no choice
  if (!row.has_algorithm()) return kUnknownText;
  return ShortenMiddle(fmt::format("{} {}", row.algorithm(), row.protocol()), 20);
}

std::string GbPerS(bool known, double rate) {
  return known ? fmt::format("{:.2f}", rate) : kUnknownText;
}

std::string ChannelRange(const proto::NcclPath& path) {
  return path.channels_min() == path.channels_max()
             ? fmt::format("{}", path.channels_max())
             : fmt::format("{} to {}", path.channels_min(), path.channels_max());
}

}  // namespace

void WriteNcclTotals(TextReport& to, const proto::Nccl& nccl) {
  to.page.Sentence(
      fmt::format("{}, {} of them linked to {}{}", Plural(nccl.kernels(), "communication kernel"),
                  FormatCount(nccl.linked_kernels()), Plural(nccl.calls(), "NCCL call"),
                  nccl.other_kernels() > 0
                      ? fmt::format("; {} not from NCCL", FormatCount(nccl.other_kernels()))
                      : ""));
}

void WriteNcclNotes(TextReport& to, const proto::Nccl& nccl, std::size_t rows) {
  bool latency = false;
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < std::min(rows, static_cast<std::size_t>(nccl.rows_size())); ++i) {
    const proto::NcclRow& row = nccl.rows(static_cast<int>(i));
    latency |= row.latency_bound();
    if (!row.busbw_reason().empty() &&
        std::find(reasons.begin(), reasons.end(), row.busbw_reason()) == reasons.end()) {
      reasons.push_back(row.busbw_reason());
    }
  }
  to.page.Sentence(
      "Message: size S, at least this, less than twice this. Bandwidths in GB/s (10^9 bytes per "
      "second), as nccl-tests defines them." +
      std::string(nccl.caveat().empty() ? "" : " ") + nccl.caveat());
  if (latency)
    to.page.Sentence("* below 1 MiB: latency-bound, not suitable for comparing bandwidths");
  for (const std::string& reason : reasons) to.page.Sentence("busbw unknown: " + reason);
}

void WriteNccl(TextReport& to, const proto::Nccl& nccl, std::size_t rows) {
  if (nccl.kernels() == 0) return to.page.Sentence("no communication kernels");
  WriteNcclTotals(to, nccl);
  // Only where NCCL told how it carried operations out.
  const bool told = std::any_of(nccl.rows().begin(), nccl.rows().end(),
                                [](const proto::NcclRow& row) { return row.has_algorithm(); });
  TextRows table = {{"function", "ranks", "message", "count", "bytes", "kernel time", "algbw",
                     "busbw", "transfer"}};
  if (told) table.front().insert(table.front().begin() + 1, "algo / proto");
  for (const proto::NcclRow& row : nccl.rows()) {
    if (table.size() > rows) break;
    table.push_back(
        {ShortenMiddle(row.function(), 16),
         row.has_communicator_size() ? fmt::format("{}", row.communicator_size()) : kUnknownText,
         MessageSize(row), FormatCount(row.count()),
         row.has_bytes() ? FormatBytes(row.bytes()) : kUnknownText, FormatTime(row.kernel_ns()),
         GbPerS(row.has_algbw_gb_per_s(), row.algbw_gb_per_s()),
         GbPerS(row.has_busbw_gb_per_s(), row.busbw_gb_per_s()),
         GbPerS(row.has_transfer_busbw_gb_per_s(), row.transfer_busbw_gb_per_s())});
    if (told) table.back().insert(table.back().begin() + 1, CarriedOut(row));
  }
  const int columns = told ? 1 : 0;
  if (table.size() > 1) to.page.Table(table, 3 + columns, 8 + columns);
  WriteMore(to, rows, nccl.rows_size());
  WriteNcclNotes(to, nccl, rows);
}

void WriteRankLink(TextReport& to, const proto::RankLink& link, const std::string& label) {
  std::string text = fmt::format("operations of 8 MiB and more{}: busbw {:.1f} GB/s{}",
                                 label.empty() ? "" : " of " + label, link.busbw_gb_per_s(),
                                 link.waiting_included() ? " or more, as it includes waiting" : "");
  const std::string way =
      link.has_link_gb_per_s()
          ? fmt::format("{} ({:.4g} GB/s per direction)", link.name(), link.link_gb_per_s())
          : fmt::format("{}; its rate is unknown", link.name());
  text += link.has_link_share() ? fmt::format(", {:.0f} % of {}", 100 * link.link_share(), way)
          : link.name().empty() ? "; link unknown"
                                : " over " + way;
  if (!link.reason().empty()) text += ": " + link.reason();
  if (link.nvls())
    text +=
        "; with NVLink SHARP (NVLS) the switch does the reduction, so busbw is not the link rate";
  to.page.Sentence(text);
}

void WriteLinkFindings(TextReport& to, const proto::DeviceReport& device) {
  for (const proto::LinkFinding& finding : device.link_findings()) {
    to.page.Sentence("- " + finding.text());
    to.page.Sentence(fmt::format("{}: {}", finding.setting(), finding.change()), 4);
    to.page.Sentence("[" + finding.source() + "]", 8);
  }
}

// Only where it was recorded.
void WriteNcclTransports(TextReport& to, const proto::Nccl& nccl) {
  if (nccl.transports().empty()) return;
  to.page.Sentence("NCCL transports (from its log):");
  TextRows table = {
      {"connected by", "ranks", "communicators", "ranks reporting", "pairs", "channels"}};
  for (const proto::NcclTransport& transport : nccl.transports()) {
    const std::string ranks = transport.has_communicator_size()
                                  ? fmt::format("{}", transport.communicator_size())
                                  : kUnknownText;
    const std::string communicators = FormatCount(transport.communicators()),
                      told = FormatCount(transport.ranks_told());
    if (transport.paths().empty())
      table.push_back({"nothing", ranks, communicators, told, "-", "-"});
    for (const proto::NcclPath& path : transport.paths()) {
      table.push_back({ShortenMiddle(path.name(), 32), ranks, communicators, told,
                       FormatCount(path.pairs()), ChannelRange(path)});
    }
  }
  to.page.Table(table, 1, 5);
  for (const proto::NcclTransport& transport : nccl.transports()) {
    if (!transport.nvls()) continue;
    const std::string of =
        transport.has_communicator_size()
            ? fmt::format("Of {}: ", Plural(transport.communicator_size(), "rank"))
            : std::string();
    to.page.Sentence(of + "buffers for NVLink SHARP (NVLS) were allocated.");
  }
}

}  // namespace traceinject
