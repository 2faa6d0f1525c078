// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <optional>

#include "analyzer/commands/record/environment_variable.h"
#include "analyzer/commands/record/preload.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/run_options.h"
#include "analyzer/commands/try/levers_text.h"
#include "analyzer/commands/try/scratch.h"
#include "analyzer/commands/try/try_commands.h"
#include "analyzer/commands/try/try_options.h"
#include "analyzer/commands/try/tryout.h"
#include "analyzer/html/write_tries_html.h"
#include "analyzer/report/formats/json.h"
#include "analyzer/tries/plan.h"
#include "analyzer/tries/text_tries.h"
#include "analyzer/tries/tries_file.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

int Write(const proto::Tries& tries, const TryOptions& options) {
  if (!options.html.empty()) {
    const int failed = WriteOrExplain(kTryProgram, options.html, WriteTriesHtml(tries));
    if (failed != 0) return failed;
  }
  if (options.format == "json") {
    const Result<std::string> json = WriteJson(tries);
    return json.ok() ? WriteOrExplain(kTryProgram, "-", json.value())
                     : (SayInTry(json.error()), kUnreadable);
  }
  const PageStyle style = StyleFor("-");
  TextPage page(style.color, style.width);
  WriteTries(tries, page);
  return WriteOrExplain(kTryProgram, "-", page.text());
}

int Try(TryOptions& options) {
  std::error_code error;
  const auto library =
      FindPreloadLibrary(fs::read_symlink("/proc/self/exe", error).parent_path().string(),
                         EnvironmentVariable("TRACEINJECT_LIBRARY"));
  if (!library.ok()) {
    SayInTry(library.error());
    return kUnreadable;
  }
  options.trial.library = library.value();
  std::optional<proto::Report> from;
  if (!options.from.empty()) {
    RunOptions recorded;
    recorded.paths = options.from;
    recorded.no_progress = options.no_progress;
    const auto run = LoadOrExplain(recorded);
    if (const int* exit_code = std::get_if<int>(&run)) return *exit_code;
    from = BuildReportWithVerdict(std::get<Run>(run), {});
  }
  Interruption interruption;  // before there is anything to clear away
  const Scratch scratch(options.output, options.keep);
  if (!scratch.made()) {
    SayInTry(fmt::format("{}: {}; -o names another folder", scratch.path(), scratch.why_not()));
    return kUnreadable;
  }
  Tryout tryout(options, from ? &*from : nullptr, scratch, interruption);
  const int exit_code = tryout.Run();
  const proto::Tries& tries = tryout.tries();
  if (!tries.as_is().has_step_ns()) return exit_code;
  if (!tries.interrupted() && tries.fixes_size() > 0) {
    const Status stored = AppendTries(scratch.tries_file(), tries, std::time(nullptr));
    if (!stored.ok()) SayInTry("the result was not stored: " + stored.error());
  }
  const int failed = Write(tries, options);
  return exit_code != 0 ? exit_code : failed;
}

}  // namespace

int RunTry(const std::vector<std::string>& arguments) {
  TryOptions options;
  CLI::App app("Tries fixes without changing the program: measures what each lever saves.",
               kTryProgram);
  DescribeTry(app, options);
  std::vector<std::string> own = arguments;
  const std::vector<std::string> program = TakeProgram(own);
  if (const auto exit_code = ParseArguments(app, own)) return *exit_code;
  if (options.levers) return WriteOrExplain(kTryProgram, "-", LeversText());
  options.trial.program.insert(options.trial.program.end(), program.begin(), program.end());
  if (options.trial.program.empty()) {
    SayInTry(fmt::format("name the program after --, as in: {} -- python train.py", kTryProgram));
    return kBadUsage;
  }
  // Before the first run, which takes a while.
  if (const Result<TryPlan> plan = PlanTries({}, options.choice); !plan.ok()) {
    SayInTry(plan.error());
    return kBadUsage;
  }
  return Try(options);
}

}  // namespace traceinject
