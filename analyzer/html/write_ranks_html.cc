// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/write_ranks_html.h"

#include <fmt/format.h>

#include <set>

#include "analyzer/common/units.h"
#include "analyzer/html/page/document.h"
#include "analyzer/html/page/html_page.h"
#include "analyzer/html/sections/sections.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/text_ranks.h"
#include "schemas/report.pb.h"

namespace traceinject {
namespace {

std::string FilesText(const proto::Ranks& ranks) {
  std::set<std::string> paths;
  for (const proto::RankRow& rank : ranks.ranks()) paths.insert(rank.path());
  if (paths.empty()) return "no files";
  return paths.size() == 1 ? *paths.begin()
                           : fmt::format("{} and {} more", *paths.begin(), paths.size() - 1);
}

std::string AboutText(const proto::Ranks& ranks) {
  return fmt::format("{} on {}", Plural(ranks.ranks_size(), "rank"), Plural(ranks.hosts(), "host"));
}

void WriteTiles(const proto::Ranks& ranks, Markup& out) {
  const auto tiles = out.Open("dl", {{"class", "tiles"}});
  if (ranks.has_step_ns())
    WriteTile(out, "Step time", FormatTime(ranks.step_ns()),
              "mean of " + Plural(ranks.steps(), "regular step"));
  if (ranks.findings_size() > 0 && ranks.findings(0).has_saved_ns() && ranks.step_ns() > 0)
    WriteTile(out, "Saving per step", FormatTime(ranks.findings(0).saved_ns()),
              Percent(static_cast<double>(ranks.findings(0).saved_ns()) /
                      static_cast<double>(ranks.step_ns())) +
                  " of the step");
  if (ranks.has_slowdown())
    WriteTile(out, "Slowdown", fmt::format("{:.3f}", ranks.slowdown()),
              ranks.of_operations() ? "over operations at the mean of their kind"
                                    : "over ranks at their peers' median");
}

void WriteCard(const proto::Ranks& ranks, Markup& out) {
  const bool any = ranks.findings_size() > 0;
  const auto card = out.Open("div", {{"class", any ? "card" : "card healthy"}, {"id", "verdict"}});
  out.Leaf("p", "Between ranks", {{"class", "kicker"}});
  out.Leaf("h1", any ? ranks.findings(0).name() : "no finding", {{"id", "verdict-label"}});
  if (any) out.Leaf("p", ranks.findings(0).text(), {{"class", "lead"}});
  WriteTiles(ranks, out);
}

template <typename Write>
void WriteSection(const char* id, const char* title, Markup& out, Write write) {
  const auto section =
      out.Open("section", {{"id", id}, {"aria-labelledby", std::string(id) + "-title"}});
  out.Leaf("h2", title, {{"id", std::string(id) + "-title"}});
  write();
}

void WriteMain(const proto::Ranks& ranks, Markup& out) {
  WriteCard(ranks, out);
  WriteSection("summary", "What holds the job up", out, [&] {
    HtmlPage page(out);
    WriteRanksSummary(ranks, page);
  });
  WriteSection("ranks", "Ranks", out, [&] {
    const proto::Report none;
    WriteRankRows({none, ranks, {}, out});
  });
  WriteSection("layout", "Layout of the job", out, [&] {
    HtmlPage page(out);
    WriteRanksLayout(ranks, page);
  });
}

}  // namespace

std::string WriteRanksHtml(const proto::Ranks& ranks) {
  return WriteDocument(
      {"Ranks - " + FilesText(ranks),
       [&](Markup& out) {
         out.Leaf("p", FilesText(ranks), {{"class", "files"}});
         out.Leaf("p", AboutText(ranks), {{"class", "about"}});
       },
       [&](Markup& out) { WriteMain(ranks, out); },
       fmt::format("analyze {}. All figures match analyze ranks on the same files.",
                   ranks.tool_version())});
}

}  // namespace traceinject
