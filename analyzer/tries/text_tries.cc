// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tries/text_tries.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/tries/wishes.h"

namespace traceinject {
namespace {

constexpr int kBold = 1, kYellow = 33;
constexpr char kNothing[] = "-";
constexpr double kAboutAsMuch = 0.95;

std::string EndsText(std::int64_t low_ns, std::int64_t high_ns) {
  return fmt::format("{} to {}", FormatTime(low_ns), FormatTime(high_ns));
}

std::string ShortForetold(const proto::TriedFix& fix) {
  if (fix.has_predicted_ns()) return FormatTime(fix.predicted_ns());
  return fix.has_most_ns() ? "up to " + FormatTime(fix.most_ns()) : kNothing;
}

std::string StepText(const proto::TriedRuns& runs) {
  return runs.has_step_ns() ? FormatTime(runs.step_ns()) : kNothing;
}

std::string MemoryText(const proto::TriedRuns& runs) {
  return runs.has_peak_bytes() ? FormatBytes(runs.peak_bytes()) : kNothing;
}

std::string VerdictText(const proto::TriedRuns& runs) {
  return runs.verdict().empty() ? kNothing : runs.verdict();
}

void WriteTable(const proto::Tries& tries, ReportPage& page) {
  std::vector<std::vector<std::string>> rows = {
      {"lever", "predicted", "measured", "95 % interval", "step", "memory", "losses", "then"}};
  rows.push_back({"as it is", "", "", "", StepText(tries.as_is()), MemoryText(tries.as_is()), "",
                  VerdictText(tries.as_is())});
  for (const proto::TriedFix& fix : tries.fixes()) {
    const bool has_interval = fix.has_saved_ns() && fix.has_saved_low_ns();
    rows.push_back({FixName(fix), ShortForetold(fix),
                    fix.has_saved_ns() ? FormatTime(fix.saved_ns()) : fix.outcome(),
                    has_interval ? EndsText(fix.saved_low_ns(), fix.saved_high_ns()) : kNothing,
                    StepText(fix.run()), MemoryText(fix.run()),
                    fix.losses().empty() ? kNothing : fix.losses(), VerdictText(fix.run())});
  }
  page.Table(rows, 1, 5);
}

void WriteDiff(const proto::TriedFix& fix, ReportPage& page) {
  if (fix.diff().empty()) return;
  page.Sentence("as a patch:", 4);
  page.Code(fix.diff());
}

void WriteBest(const proto::Tries& tries, ReportPage& page) {
  const proto::TriedFix* const best = BestFix(tries);
  if (best == nullptr) {
    page.Sentence(tries.fixes().empty()
                      ? "no lever of this verdict can be pulled from outside: see what to change "
                        "in the report"
                      : "none of what was tried saves time for sure");
    return;
  }
  page.Sentence(page.Colored(fmt::format("{} saves {} of a step of {}: {}", FixName(*best),
                                         MeasuredText(*best), FormatTime(tries.as_is().step_ns()),
                                         FormatShare(best->saved_ns(), tries.as_is().step_ns())),
                             kBold));
  std::size_t begin = 0;
  const std::string& lines = best->permanent();
  while (begin < lines.size()) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    page.Sentence("- to keep it: " + lines.substr(begin, end - begin));
    begin = end + 1;
  }
  WriteDiff(*best, page);
}

void WriteFix(const proto::TriedFix& fix, ReportPage& page) {
  page.Sentence(fmt::format("- {}{}", FixName(fix),
                            fix.setting().empty() ? "" : ", for \"" + fix.setting() + "\""));
  if (!fix.applied().empty()) page.Sentence(fix.applied(), 4);
  if (!fix.reason().empty())
    page.Sentence(page.Colored(fix.outcome() + ": ", kYellow) + fix.reason(), 4);
  if (fix.has_predicted_ns()) page.Sentence("the verdict foretold " + ForetoldText(fix), 4);
  if (!fix.losses_text().empty())
    page.Sentence(fmt::format("losses: {}{}{}", fix.losses(), fix.losses() == "differ" ? " " : ", ",
                              fix.losses_text()),
                  4);
  if (!fix.effect().empty()) page.Sentence("may change: " + fix.effect(), 4);
}

}  // namespace

std::string ForetoldText(const proto::TriedFix& fix) {
  if (fix.has_predicted_ns())
    return fmt::format("{}{}", FormatTime(fix.predicted_ns()),
                       fix.has_predicted_low_ns()
                           ? " (" + EndsText(fix.predicted_low_ns(), fix.predicted_high_ns()) + ")"
                           : "");
  return ShortForetold(fix);
}

std::string MeasuredText(const proto::TriedFix& fix) {
  if (!fix.has_saved_ns()) return fix.outcome();
  return fmt::format(
      "{}{}{}", FormatTime(fix.saved_ns()),
      fix.has_saved_low_ns() ? " (" + EndsText(fix.saved_low_ns(), fix.saved_high_ns()) + ")" : "",
      fix.outcome() == "measured" ? "" : ", " + fix.outcome());
}

std::string FixName(const proto::TriedFix& fix) {
  std::string name;
  for (const TryWish& wish : WishesOf(fix.tried()))
    name += (name.empty() ? "" : " + ") + wish.text();
  return name;
}

const proto::TriedFix* BestFix(const proto::Tries& tries) {
  const proto::TriedFix* best = nullptr;
  for (const proto::TriedFix& fix : tries.fixes()) {
    if (fix.outcome() == "measured" && fix.saved_low_ns() > 0 &&
        (best == nullptr || fix.saved_ns() > best->saved_ns()))
      best = &fix;
  }
  if (best == nullptr) return nullptr;
  const double enough_ns = kAboutAsMuch * static_cast<double>(best->saved_ns());
  for (const proto::TriedFix& fix : tries.fixes()) {
    const bool is_enough = fix.outcome() == "measured" && fix.saved_low_ns() > 0 &&
                           static_cast<double>(fix.saved_ns()) >= enough_ns;
    if (is_enough && WishesOf(fix.tried()).size() < WishesOf(best->tried()).size()) best = &fix;
  }
  return best;
}

void WriteTries(const proto::Tries& tries, ReportPage& page) {
  if (tries.interrupted()) page.Sentence("interrupted: what follows is what was run until then");
  page.Sentence(fmt::format(
      "tried on {}: {}, {} after {} of warm-up each", fmt::join(tries.command(), " "),
      Plural(tries.repeats(), "run") + " of each", Plural(tries.steps(), "step"), tries.warm_up()));
  WriteBest(tries, page);
  page.Heading("What each lever brings, of a step");
  WriteTable(tries, page);
  if (!tries.fixes().empty()) page.Heading("What was changed");
  for (const proto::TriedFix& fix : tries.fixes()) WriteFix(fix, page);
  for (const std::string& note : tries.notes()) page.Sentence("note: " + note);
}

}  // namespace traceinject
