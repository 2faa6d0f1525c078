// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/job_options.h"

#include <fmt/format.h>

#include <cstdio>

#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/missing_run.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/progress_bar.h"
#include "analyzer/html/write_ranks_html.h"
#include "analyzer/import/open/run_paths.h"
#include "analyzer/ranks/findings/analyse_job.h"
#include "analyzer/report/formats/json.h"
#include "analyzer/report/formats/pb.h"
#include "analyzer/report/layout/text_layout.h"
#include "analyzer/report/text/text_ranks.h"

namespace traceinject {

void AddJobOptions(CLI::App& app, JobCommand& command, const std::string& what) {
  app.add_option("files", command.paths, what)->required();
  AddOutput(app, command.output);
  AddReadingOptions(app, command);
}

void AddReadingOptions(CLI::App& app, JobCommand& command) {
  app.add_option("--threads", command.threads,
                 "files to read at once; 0: one per CPU that may be used")
      ->check(WholeNumberFrom(0))
      ->capture_default_str();
  app.add_flag("--no-progress", command.no_progress, "draw no progress bar");
}

JobOptions ReadingOptions(const JobCommand& command, ProgressBar* bar) {
  JobOptions options;
  options.threads = command.threads;
  if (bar != nullptr)
    options.on_progress = [bar](const LoadProgress& progress) { bar->Show(progress); };
  return options;
}

void AddJobReportOptions(CLI::App& app, JobCommand& command) {
  app.add_option("--format", command.format,
                 "text, html, json or pb (binary Protocol Buffers; fields as in ranks.proto)")
      ->check(CLI::IsMember({"text", "html", "json", "pb"}))
      ->capture_default_str();
  app.add_option("--rows", command.rows,
                 "rows of the rank table in text, those furthest above their peers; 0: all")
      ->check(WholeNumberFrom(0))
      ->capture_default_str();
}

std::variant<const Job*, int> JobOrExplain(const JobCommand& command, const Result<Job>& job) {
  if (!job.ok()) {
    fmt::print(stderr, "{}\n", job.error());
    if (!ResolveRunPaths(command.paths, PathsTo::kRecordingsOrSummaries).ok())
      fmt::print(stderr, "\n{}", MissingRunChecklist(command.paths));
    return kUnreadable;
  }
  if (!job.value().ranks.empty()) return &job.value();
  for (const std::string& note : job.value().notes) fmt::print(stderr, "{}\n", note);
  fmt::print(stderr, "{}: the recordings contain no GPU work; analyze report explains why\n",
             command.program);
  return kUnreadable;
}

int WriteJobOrExplain(const JobCommand& command, const Result<Job>& job) {
  const auto found = JobOrExplain(command, job);
  if (const int* exit_code = std::get_if<int>(&found)) return *exit_code;
  const proto::Ranks ranks = AnalyzeJob(*std::get<const Job*>(found));
  Result<std::string> text = std::string();
  if (command.format == "json") {
    text = WriteJson(ranks);
  } else if (command.format == "html") {
    text = WriteRanksHtml(ranks);
  } else if (command.format == "pb") {
    text = WritePb(ranks);
  } else {
    const PageStyle style = StyleOf(command);
    text = WriteRanksText(ranks, {.width = style.width, .color = style.color}, command.rows);
  }
  if (!text.ok()) {
    fmt::print(stderr, "{}: {}\n", command.program, text.error());
    return kUnreadable;
  }
  return WriteOrExplain(command.program, command.output, text.value());
}

int ReportOnJob(const JobHelp& help, const std::vector<std::string>& arguments) {
  JobCommand command{.program = help.program};
  CLI::App app(help.about, help.program);
  app.footer(help.footer);
  AddJobOptions(app, command, help.files);
  AddJobReportOptions(app, command);
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  const Result<Job> job = [&] {
    ProgressBar bar(!command.no_progress);
    return LoadJob(command.paths, ReadingOptions(command, &bar));
  }();
  return WriteJobOrExplain(command, job);
}

PageStyle StyleOf(const JobCommand& command) {
  if (command.plain) return {kTextWidth, false};
  RunOptions of_output;
  of_output.output = command.output;
  return StyleOf(of_output);
}

}  // namespace traceinject
