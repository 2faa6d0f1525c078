// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyzer/report/text/text_sections.h"
#include "analyzer/report/text/verdict_sentences.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {

void WriteTried(TextReport& to) {
  if (const std::string text = TriedText(to.report); !text.empty())
    to.page.Sentence(to.page.Colored(text, 33));
}

void WriteVerdict(TextReport& to) {
  const proto::Verdict& verdict = to.report.verdict();
  if (verdict.label().empty()) return;
  to.page.Sentence(to.page.Colored("verdict: " + VerdictTitle(verdict), 1), 0);
  for (const std::string& sentence :
       {SavingSentence(verdict), IntervalSentence(verdict), BetweenSentence(verdict),
        RecordingSentence(verdict), ConfidenceSentence(verdict), ReplayCheckSentence(verdict)}) {
    if (!sentence.empty()) to.page.Sentence(sentence);
  }
  if (const std::string fixes = FixOrderText(verdict); !fixes.empty())
    to.page.Sentence("fix order: " + fixes);
  for (const std::string& sentence : verdict.interactions()) to.page.Sentence(sentence);
  for (const std::string& caveat : verdict.caveats()) to.page.Sentence("caveat: " + caveat);
  if (verdict.evidence_size() > 0) to.page.Line(fmt::format("  evidence ({}):", verdict.device()));
  bool is_shown = false;  // one is enough: the others are not far, or a click away
  for (const proto::Evidence& evidence : verdict.evidence()) {
    to.page.Sentence("- " + evidence.text(), 4);
    if (is_shown || !evidence.has_start_ns() || !evidence.has_end_ns()) continue;
    to.page.Sentence(ViewCommand(RunName(to), evidence.start_ns(), evidence.end_ns()), 6);
    is_shown = true;
  }
  if (verdict.levers_size() > 0) to.page.Line("  what to change:");
  for (const proto::Lever& lever : verdict.levers()) {
    to.page.Sentence(
        "- " + SettingText(lever) + (lever.change().empty() ? "" : ": " + lever.change()), 4);
    if (!lever.source().empty()) to.page.Sentence("[" + lever.source() + "]", 8);
  }
  to.page.Line("");
}

}  // namespace traceinject
