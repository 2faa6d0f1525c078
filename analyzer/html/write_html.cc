// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/write_html.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <string>
#include <string_view>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/html/page/document.h"
#include "analyzer/html/sections/sections.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

// In the order of the page.
const std::array<const HtmlSection*, 12> kSections = {
    &kTimelineSection,      &kStallsSection, &kMachineSection, &kStepsSection,
    &kTimeSection,          &kIdleSection,   &kCodeSection,    &kKernelsSection,
    &kCommunicationSection, &kRanksSection,  &kGpusSection,    &kRecordingSection};

constexpr std::size_t kMaxTitleFiles = 3;

// `whole`: with the folders.
std::string FilesText(const proto::Report& report, bool whole) {
  std::string text;
  std::set<std::string_view> named;
  for (const proto::Source& source : report.sources()) {
    if (!named.insert(source.path()).second || named.size() > kMaxTitleFiles) continue;
    const std::string& path = source.path();
    text += (text.empty() ? "" : ", ") + (whole ? path : path.substr(path.rfind('/') + 1));
  }
  if (named.size() > kMaxTitleFiles)
    text += fmt::format(" and {} more", named.size() - kMaxTitleFiles);
  return text.empty() ? "no files" : text;
}

void WriteTop(const HtmlReport& to) {
  to.out.Leaf("p", FilesText(to.report, false),
              {{"class", "files"}, {"tabindex", "0"}, {"data-tip", FilesText(to.report, true)}});
  const proto::Run& run = to.report.run();
  std::string text = fmt::format(
      "{}, {}", Plural(run.process_count(), "process", "es"),
      WithDetail(Plural(run.device_count(), "GPU"),
                 to.report.devices().empty() ? std::string() : to.report.devices(0).name()));
  if (run.origin_unix_ns() > 0) text += ", recorded " + FormatDate(run.origin_unix_ns());
  if (run.has_window())
    text += fmt::format(", {}{}", FormatTime(run.window().end_ns() - run.window().start_ns()),
                        run.window().restricted() ? " of the recording (partial)" : "");
  to.out.Leaf("p", text, {{"class", "about"}});
  if (to.report.scope().all() || to.report.scope().steps() > 0)
    to.out.Leaf("p", "Figures are over " + to.report.scope().text() + ".", {{"class", "about"}});
  const proto::Health& health = to.report.health();
  if (health.grade() != proto::Health::GRADE_GOOD)
    to.out.Leaf(
        "p",
        fmt::format("Trace health: {}, see \"The recording\".", HealthGradeText(health.grade())),
        {{"class", "warning"}});
}

void WriteNavigation(const HtmlReport& to) {
  const auto nav = to.out.Open("nav", {{"aria-label", "Sections"}});
  const auto list = to.out.Open("ul");
  for (const HtmlSection* section : kSections) {
    if (!section->is_known(to)) continue;
    const auto item = to.out.Open("li");
    to.out.Leaf("a", section->title, {{"href", "#" + std::string(section->id)}});
  }
}

void WriteSections(const HtmlReport& to) {
  for (const HtmlSection* section : kSections) {
    if (!section->is_known(to)) continue;
    const std::string id(section->id);
    const auto open = to.out.Open("section", {{"id", id}, {"aria-labelledby", id + "-title"}});
    to.out.Leaf("h2", section->title, {{"id", id + "-title"}});
    section->write(to);
  }
}

}  // namespace

std::string WriteHtml(const proto::Report& report, const proto::Ranks& ranks,
                      const PageTimeline& timeline) {
  return WriteDocument(
      {TitleOn(report.verdict()) + " - " + FilesText(report, false),
       [&](Markup& out) {
         WriteTop({report, ranks, timeline, out});
       },
       [&](Markup& out) {
         const HtmlReport to{report, ranks, timeline, out};
         WriteVerdictSection(to);
         WriteNavigation(to);
         WriteSections(to);
       },
       fmt::format("analyze {}. All figures match analyze report on the same recording.",
                   report.tool_version()),
       !timeline.empty()});
}

}  // namespace traceinject
