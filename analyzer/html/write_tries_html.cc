// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/write_tries_html.h"

#include <fmt/format.h>

#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/html/charts/bars.h"
#include "analyzer/html/page/document.h"
#include "analyzer/html/page/html_page.h"
#include "analyzer/tries/text_tries.h"

namespace traceinject {
namespace {

std::string CommandOf(const proto::Tries& tries) {
  return fmt::format("{}", fmt::join(tries.command(), " "));
}

void WriteBestCard(const proto::Tries& tries, Markup& out) {
  const proto::TriedFix* const best = BestFix(tries);
  const auto card = out.Open("div", {{"class", best == nullptr ? "card unknown" : "card healthy"}});
  out.Leaf("p", "Tried: what the fixes bring", {{"class", "kicker"}});
  out.Leaf("h1",
           best == nullptr ? "nothing that was tried saves time for sure"
                           : fmt::format("{} saves {} of a step", FixName(*best),
                                         FormatShare(best->saved_ns(), tries.as_is().step_ns())),
           {{"id", "verdict-label"}});
  const auto tiles = out.Open("dl", {{"class", "tiles"}});
  if (best == nullptr)
    return WriteTile(out, "Step", FormatTime(tries.as_is().step_ns()), "as it is");
  WriteTile(out, "Step",
            FormatTime(tries.as_is().step_ns()) + " → " + FormatTime(best->run().step_ns()),
            "as it is → with " + FixName(*best));
  WriteTile(out, "Measured", MeasuredText(*best), "95 % interval");
  WriteTile(out, "Predicted", ForetoldText(*best), "by the verdict");
  WriteTile(out, "Losses", best->losses(), best->losses_text());
}

// The two of a lever one below the other.
void WriteSavingBars(const proto::Tries& tries, Markup& out) {
  std::vector<IntervalBar> bars;
  const auto add = [&](const std::string& label, const char* mark, std::int64_t ns, bool has_ends,
                       std::int64_t low_ns, std::int64_t high_ns, const std::string& shown) {
    bars.push_back({label, mark, static_cast<double>(ns),
                    static_cast<double>(has_ends ? low_ns : ns),
                    static_cast<double>(has_ends ? high_ns : ns), shown});
  };
  for (const proto::TriedFix& fix : tries.fixes()) {
    if (!fix.has_saved_ns()) continue;
    if (fix.has_predicted_ns())
      add(FixName(fix) + ", predicted", "other", fix.predicted_ns(), fix.has_predicted_low_ns(),
          fix.predicted_low_ns(), fix.predicted_high_ns(), ForetoldText(fix));
    add(FixName(fix) + ", measured", "chosen", fix.saved_ns(), fix.has_saved_low_ns(),
        fix.saved_low_ns(), fix.saved_high_ns(), MeasuredText(fix));
  }
  if (!bars.empty()) WriteIntervalBars(out, {"Time saved per step, with 95 % interval", ""}, bars);
}

void WriteTriesMain(const proto::Tries& tries, Markup& out) {
  {
    const auto section =
        out.Open("section", {{"id", "verdict"}, {"aria-labelledby", "verdict-label"}});
    WriteBestCard(tries, out);
    WriteSavingBars(tries, out);
  }
  HtmlPage page(out, "h2");
  WriteTries(tries, page);
}

}  // namespace

std::string WriteTriesHtml(const proto::Tries& tries) {
  return WriteDocument({"Tried: " + CommandOf(tries),
                        [&](Markup& out) {
                          out.Leaf("p", CommandOf(tries), {{"class", "files"}});
                        },
                        [&](Markup& out) { WriteTriesMain(tries, out); },
                        fmt::format("analyze {}. {}", tries.tool_version(), tries.method())});
}

}  // namespace traceinject
