// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/write_html.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <string>
#include <string_view>

#include "analyzer/common/units.h"
#include "analyzer/html/script_js.h"
#include "analyzer/html/sections.h"
#include "analyzer/html/style_css.h"
#include "analyzer/report/text_notation.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

// In the order of the page.
const std::array<const HtmlSection*, 10> kSections = {
    &kStallsSection,  &kMachineSection,       &kStepsSection, &kTimeSection, &kIdleSection,
    &kKernelsSection, &kCommunicationSection, &kRanksSection, &kGpusSection, &kRecordingSection};

constexpr std::size_t kMostTitleFiles = 3;

// Of hexadecimal digits, as a Content-Security-Policy wants it.
std::string Base64(std::string_view hex) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto value = [](char digit) -> unsigned {
    return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  };
  std::string text;
  unsigned bits = 0, held = 0;
  for (const char digit : hex) {
    held = (held << 4 | value(digit)) & 0xFFFU;
    bits += 4;
    if (bits < 6) continue;
    bits -= 6;
    text += kDigits[held >> bits & 0x3FU];
  }
  if (bits > 0) text += kDigits[held << (6 - bits) & 0x3FU];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

// Nothing is loaded, sent or framed, and no script runs but ours.
std::string Policy() {
  return fmt::format(
      "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri "
      "'none'; form-action 'none'",
      Base64(k_style_css_sha256), Base64(k_script_js_sha256));
}

std::string FilesText(const proto::Report& report) {
  std::string text;
  std::set<std::string_view> named;
  for (const proto::Source& source : report.sources()) {
    if (!named.insert(source.path()).second || named.size() > kMostTitleFiles) continue;
    text += (text.empty() ? "" : ", ") + source.path();
  }
  if (named.size() > kMostTitleFiles)
    text += fmt::format(" and {} more", named.size() - kMostTitleFiles);
  return text.empty() ? "no files" : text;
}

void WriteHead(const HtmlReport& to) {
  const auto head = to.out.Open("head");
  to.out.Void("meta", {{"charset", "utf-8"}});
  to.out.Void("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", Policy()}});
  to.out.Void("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  to.out.Void("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  to.out.Void("meta", {{"name", "referrer"}, {"content", "no-referrer"}});
  // Without it browsers ask for one.
  to.out.Void("link", {{"rel", "icon"}, {"href", "data:,"}});
  to.out.Leaf("title", LabelOn(to.report.verdict()) + " - " + FilesText(to.report));
  const auto style = to.out.Open("style");
  to.out.Verbatim(k_style_css);
}

void WriteTop(const HtmlReport& to) {
  const auto header = to.out.Open("header", {{"class", "top"}});
  {
    const auto about = to.out.Open("div");
    to.out.Leaf("p", FilesText(to.report), {{"class", "files"}});
    const proto::Run& run = to.report.run();
    std::string text = fmt::format("{}, {}", Plural(run.process_count(), "process", "es"),
                                   Plural(run.device_count(), "GPU"));
    if (!to.report.devices().empty()) text += fmt::format(" ({})", to.report.devices(0).name());
    if (run.origin_unix_ns() > 0) text += ", recorded " + FormatDate(run.origin_unix_ns());
    if (run.has_window())
      text += fmt::format(", {}{}", FormatTime(run.window().end_ns() - run.window().start_ns()),
                          run.window().restricted() ? " of the recording, only a part" : "");
    to.out.Leaf("p", text, {{"class", "about"}});
    const proto::Health& health = to.report.health();
    if (health.grade() != proto::Health::GRADE_GOOD)
      to.out.Leaf(
          "p", fmt::format("Trace health: {}, see The recording.", HealthGradeText(health.grade())),
          {{"class", "warning"}});
  }
  to.out.Leaf("button", "Theme", {{"id", "theme"}, {"type", "button"}, {"hidden", "hidden"}});
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

std::string WriteHtml(const proto::Report& report, const proto::Ranks& ranks) {
  Markup out;
  const HtmlReport to{report, ranks, out};
  out.Verbatim("<!DOCTYPE html>\n");
  {
    const auto html = out.Open("html", {{"lang", "en"}});
    WriteHead(to);
    const auto body = out.Open("body");
    out.Leaf("a", "Skip to the verdict", {{"class", "skip"}, {"href", "#verdict"}});
    WriteTop(to);
    {
      const auto main = out.Open("main");
      WriteVerdictSection(to);
      WriteNavigation(to);
      WriteSections(to);
    }
    {
      const auto footer = out.Open("footer");
      out.Leaf("p", "analyze " + report.tool_version() +
                        ". Every figure is that of analyze report on the same recording.");
    }
    const auto script = out.Open("script");
    out.Verbatim(k_script_js);
  }
  return out.text();
}

}  // namespace traceinject
