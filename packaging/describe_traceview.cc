// SPDX-License-Identifier: Apache-2.0
// Prints the manual page of `traceview`, or with the name of a shell its completion.
#include <CLI/CLI.hpp>
#include <string>

#include "packaging/describe.h"
#include "packaging/man_page.h"
#include "viewer/options/options.h"

namespace {

using namespace traceinject;

std::string ManualOfTraceview(const CommandText& program) {
  ManPage page("traceview", "1", "shows a recording of a training run on a timeline");
  page.Section("Synopsis");
  page.Usage(program);
  page.Section("Description");
  page.Lines(program.about);
  page.Section("Options");
  page.Options(program);
  page.Section("Scripts and exit status");
  page.Lines(program.footer);
  page.Section("See also");
  page.Paragraphs("analyze(1), libtraceinject(7)");
  return page.text();
}

}  // namespace

int main(int argc, char** argv) {
  ViewerOptions options;
  CLI::App app;
  AddViewerOptions(app, options);
  const CommandText program = DescribeCommand(app);
  return Describe(argc, argv, {"traceview", {program}, "traceview"},
                  [&] { return ManualOfTraceview(program); });
}
