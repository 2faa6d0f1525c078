// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "analyzer/commands/analyze.h"
#include "analyzer/commands/arguments.h"
#include "analyzer/commands/missing_run.h"
#include "analyzer/commands/output.h"
#include "analyzer/commands/progress_bar.h"
#include "analyzer/commands/terminal.h"
#include "analyzer/import/load_run.h"
#include "analyzer/import/run_paths.h"
#include "analyzer/metrics/build_report.h"
#include "analyzer/report/json.h"
#include "analyzer/report/pb.h"
#include "analyzer/report/text.h"
#include "analyzer/verdict/add_verdict.h"

namespace traceinject {
namespace {

constexpr char kProgram[] = "analyze report";
constexpr char kExamples[] =
    "Examples:\n"
    "  analyze run.db                                   the report; run.db stands for run.rank*.db "
    "too\n"
    "  analyze run.db --from 1.5s --to 2s               only this part of the run\n"
    "  analyze run.db --steps 10..20                    only these steps, as traceview numbers "
    "them\n"
    "  analyze run.db --step-regex '^batch [0-9]+$'     NVTX ranges of these names are the steps\n"
    "  analyze run.db --params 6.7B --tokens-per-step 4M  with model FLOPs utilisation (6 x "
    "parameters x tokens)\n"
    "  analyze run.db --format json -o report.json      the same figures for programs; fields as "
    "in report.proto\n";

struct Options {
  std::vector<std::string> paths;
  ReportOptions report;
  TextOptions text;
  std::string format = "text", output = "-", peak;
  bool no_progress = false;
};

// Returns --steps.
CLI::Option* AddSteps(CLI::App& app, Options& options) {
  app.add_option_function<std::string>(
         "--step-regex",
         [&options](const std::string& text) {
           auto parsed = StepPattern::Parse(text);
           if (!parsed.ok()) throw CLI::ValidationError("--step-regex", parsed.error());
           options.report.step_pattern = std::move(parsed).value();
         },
         "steps are the NVTX ranges in whose names this regular expression matches, and nothing "
         "else")
      ->type_name("REGEX");
  return app
      .add_option_function<std::string>(
          "--steps",
          [&options](const std::string& text) {
            const auto parsed = ParseNumberRange(text);
            if (!parsed.ok())
              throw CLI::ValidationError("--steps",
                                         parsed.error() + "; the number of steps is --step-count");
            options.report.steps = StepChoice{parsed.value().first, parsed.value().last};
          },
          "analyse these steps of each GPU only, counted from 1 over the whole recording")
      ->type_name("A..B");
}

void Describe(CLI::App& app, Options& options) {
  app.footer(kExamples);
  app.add_option(
         "run", options.paths,
         "recordings: run.db, run.db.zst, a name that stands for run.rank*.db, or a folder; or "
         "traces of PyTorch's profiler: trace.json, trace.json.gz")
      ->required();
  CLI::Option* from = AddTime(
      app, "--from", options.report.limits.from_ns,
      "leave out what lies before; counts from the first GPU operation of the run (1.5, 1.5s, "
      "200ms)");
  CLI::Option* to = AddTime(app, "--to", options.report.limits.to_ns,
                            "leave out what lies after; counts likewise");
  AddSteps(app, options)->excludes(from)->excludes(to);
  app.add_option("--format", options.format, "text, json or pb (binary Protocol Buffers)")
      ->check(CLI::IsMember({"text", "json", "pb"}))
      ->capture_default_str();
  AddOutput(app, options.output);
  app.add_option("--top", options.report.top_kernels, "rows of each kernel table")
      ->check(WholeNumberFrom(0))
      ->capture_default_str();
  AddAmount(app, "--flops-per-step", options.report.mfu.flops_per_step,
            "floating point operations of one step of the whole job");
  AddAmount(app, "--params", options.report.mfu.params,
            "parameters of the model, with --tokens-per-step: 6 x parameters x tokens");
  AddAmount(app, "--tokens-per-step", options.report.mfu.tokens_per_step,
            "tokens of one step of the whole job");
  app.add_option("--step-count", options.report.mfu.steps,
                 "steps in the window, for model FLOPs utilisation; without it NVTX ranges are "
                 "counted")
      ->check(WholeNumberFrom(1));
  app.add_option("--peak", options.peak, "number format whose peak rate MFU is measured against")
      ->check(CLI::Validator(
          [](std::string& name) {
            return PeakDtypeFromName(name) ? "" : "unknown number format: " + name;
          },
          "bf16|fp16|tf32|fp8|fp32"));
  app.add_flag("--no-progress", options.no_progress, "draw no progress bar");
}

Result<Run> Load(const Options& options) {
  ProgressBar bar(!options.no_progress);
  return LoadRun(options.paths,
                 {.on_progress = [&](const LoadProgress& progress) { bar.Show(progress); }});
}

// Nothing was recorded: the recorder's own reason if it left one, else the checklist.
int ExplainEmptyRun(const Run& run, const Options& options) {
  const std::string failures = StartFailures(run);
  if (!failures.empty()) {
    fmt::print(stderr, "{}", failures);
    return kUnreadable;
  }
  fmt::print(stderr, "{}: the recording holds no GPU work.\n\n{}", options.paths.front(),
             MissingRunChecklist(options.paths));
  return kUnreadable;
}

Result<std::string> Render(const Report& report, const Options& options) {
  if (options.format == "json") return WriteJson(report);
  if (options.format == "pb") return WritePb(report);
  return WriteText(report, options.text);
}

void FitToTerminal(Options& options) {
  if (options.output != "-" || isatty(STDOUT_FILENO) != 1) return;
  options.text.color = std::getenv("NO_COLOR") == nullptr;
  options.text.width = std::min(TerminalColumns(STDOUT_FILENO).value_or(kTextWidth), kTextWidth);
}

}  // namespace

int RunReport(const std::vector<std::string>& arguments) {
  Options options;
  CLI::App app(
      "Says what limits the run and what to change, then where the time of the GPUs went, per rank "
      "and "
      "device and for the whole run.",
      kProgram);
  Describe(app, options);
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  if (!options.peak.empty()) options.report.mfu.peak_dtype = *PeakDtypeFromName(options.peak);
  const TimeLimits& limits = options.report.limits;
  if (limits.from_ns && limits.to_ns && *limits.from_ns >= *limits.to_ns) {
    fmt::print(stderr, "{}: --from has to lie before --to\n", kProgram);
    return kBadUsage;
  }
  FitToTerminal(options);

  const auto run = Load(options);
  if (!run.ok()) {
    fmt::print(stderr, "{}\n", run.error());
    if (!ResolveRunPaths(options.paths).ok())
      fmt::print(stderr, "\n{}", MissingRunChecklist(options.paths));
    return kUnreadable;
  }
  if (!HasGpuWork(run.value())) return ExplainEmptyRun(run.value(), options);
  const auto text = Render(BuildReportWithVerdict(run.value(), options.report), options);
  if (!text.ok()) {
    fmt::print(stderr, "{}: {}\n", kProgram, text.error());
    return kUnreadable;
  }
  return WriteOrExplain(kProgram, options.output, text.value());
}

}  // namespace traceinject
