// SPDX-License-Identifier: Apache-2.0
// Prints the manual page of `analyze`, or with the name of a shell its completion.
#include <string>

#include "analyzer/commands/analyze.h"
#include "packaging/describe.h"
#include "packaging/man_page.h"

namespace {

using namespace traceinject;

// The lines of the help from `title` to `next`, without both.
std::string PartOfHelp(const std::string& title, const std::string& next) {
  const std::string help = HelpText();
  const std::size_t begin = help.find(title) + title.size();
  return help.substr(begin, help.find(next, begin) - begin);
}

std::string ManualOfAnalyze() {
  ManPage page("analyze", "1", "reports what limits a training run on NVIDIA GPUs");
  page.Section("Synopsis");
  // Below each other, as they are behind "usage:" in the help.
  std::string usage = PartOfHelp("usage: ", "\n\nRUN is");
  const std::string indent(std::string("usage: ").size(), ' ');
  for (std::size_t at = 0; (at = usage.find("\n" + indent, at)) != std::string::npos;)
    usage.erase(++at, indent.size());
  page.Lines(usage);
  page.Section("Description");
  page.Paragraphs(
      "Reads a training run recorded by libtraceinject(7), names the one thing that limits it, "
      "with its cost, the evidence and what to change, and reports where GPU time went.\n\nRUN is" +
      PartOfHelp("RUN is", "\n\ncommands:"));
  page.Section("Commands");
  for (const Command& command : Commands())
    page.Term(std::string(command.name), std::string(command.help));
  page.Section("Examples");
  page.Lines(PartOfHelp("\nexamples:\n", "\nexit codes:"));
  page.Section("Exit status");
  page.Paragraphs(PartOfHelp("exit codes: ", "\n"));
  page.Section("The commands in detail");
  for (const CommandText& command : AnalyzeCommands()) {
    page.Subsection(command.name);
    page.Usage(command);
    page.Paragraphs("\n" + command.about);
    page.Options(command);
    if (!command.footer.empty()) page.Lines(command.footer);
  }
  page.Section("See also");
  page.Paragraphs("traceview(1), libtraceinject(7)");
  return page.text();
}

}  // namespace

int main(int argc, char** argv) {
  return Describe(argc, argv, {"analyze", AnalyzeCommands(), "report"}, ManualOfAnalyze);
}
