// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/gate/gate.h"

#include <fmt/format.h>

#include <utility>

#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/mfu_options.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/run_options.h"
#include "analyzer/compare/gate/junit.h"
#include "analyzer/compare/gate/text_gate.h"
#include "analyzer/report/formats/json.h"

namespace traceinject {
namespace {

constexpr char kGateProgram[] = "analyze gate";
constexpr char kGateExamples[] =
    "A condition is a figure (--list names them), one of <= >= < > == !=, and a value: mfu >= "
    "0.42, step_ms <= 310,\n"
    "exposed_comm_share <= 10%, peak_memory_bytes <= 70GB, verdict != dataloader.\n\n"
    "A run is worse than the baseline if a figure is worse by more than the tolerance and the 95 % "
    "interval of\n"
    "the change excludes noise. The tolerance is a share of the baseline's step for times, "
    "percentage points for\n"
    "shares, and a share of the figure itself for others. Compared are the steps that the verdict "
    "of each run\n"
    "judges; left_out_share limits the others.\n\n"
    "Examples:\n"
    "  analyze gate run.db --require 'gpu_busy >= 0.85' --require 'verdict != dataloader'\n"
    "  analyze gate run.db --baseline base.db --compare step_ms,exposed_comm_ms --tolerance 5\n"
    "  analyze gate run.db --budget budget.txt --junit gate.xml   one condition per line, # begins "
    "a comment\n"
    "  analyze gate run.db --require 'mfu >= 0.42' --params 6.7B --tokens-per-step 4M\n"
    "  analyze gate --list                                        the figures and the verdicts\n\n"
    "Exit code 1 if a condition fails or its figure is unknown, else 0.\n";

struct GateCommand {
  RunOptions run;
  GateOptions gate;
  std::vector<std::string> required;
  std::vector<std::string> compared;
  std::string budget, baseline, junit, format = "text";
  bool list = false;
};

void DescribeGate(CLI::App& app, GateCommand& options) {
  app.footer(kGateExamples);
  AddRunOptions(app, options.run);
  app.get_option("run")->required(false);
  std::vector<std::string> figures;
  for (const Figure& figure : Figures()) figures.emplace_back(figure.name);
  CLI::Option* const require =
      app.add_option("--require", options.required, "a condition; may be repeated")
          ->type_name("CONDITION")
          ->expected(1)
          ->take_all();
  OfferWords(require, figures);
  app.add_option("--budget", options.budget, "a file of conditions, one per line")
      ->type_name("FILE");
  app.add_option("--baseline", options.baseline, "the run to compare with")->type_name("RUN");
  CLI::Option* const compare =
      app.add_option("--compare", options.compared,
                     "with --baseline: figures that must not be worse (default step_ms)")
          ->type_name("FIGURE,...")
          ->delimiter(',')
          ->expected(1)
          ->take_all();
  OfferWords(compare, figures);
  AddTolerance(app, options.gate.tolerance, "with --baseline: tolerance in percent (default 3)");
  app.add_flag("--allow-unknown", options.gate.allow_unknown,
               "a figure the recording does not contain is not a failure");
  app.add_option("--junit", options.junit, "also write a JUnit file, one test case per condition")
      ->type_name("FILE");
  app.add_option("--format", options.format, "text or json (fields as in comparison.proto)")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.add_flag("--list", options.list, "list the figures and verdicts and exit");
  AddMfuOptions(app, options.run.report.mfu);
}

// Fills options.gate from the text of the others.
Status ParseConditions(GateCommand& options) {
  for (const std::string& text : options.required) {
    auto condition = ParseCondition(text, "--require");
    if (!condition.ok()) return Error{condition.error()};
    options.gate.conditions.push_back(std::move(condition).value());
  }
  if (!options.budget.empty()) {
    auto budget = ReadBudget(options.budget);
    if (!budget.ok()) return Error{budget.error()};
    for (Condition& condition : budget.value())
      options.gate.conditions.push_back(std::move(condition));
  }
  if (options.baseline.empty()) {
    if (!options.compared.empty()) return Error{"--compare requires --baseline"};
    if (options.gate.conditions.empty())
      return Error{"nothing to check: give --require, --budget or --baseline"};
    return Done{};
  }
  if (options.compared.empty()) options.compared = {"step_ms"};
  for (const std::string& name : options.compared) {
    const auto figure = FigureOrNearest(name);
    if (!figure.ok()) return Error{"--compare: " + figure.error()};
    const std::string_view why = WhyNotCompared(*figure.value());
    if (!why.empty()) return Error{fmt::format("--compare: {}: {}", name, why)};
    options.gate.compared.push_back(figure.value());
  }
  return Done{};
}

int BadUsage(const std::string& why) {
  fmt::print(stderr, "{}: {}\nSee {} --help.\n", kGateProgram, why, kGateProgram);
  return kBadUsage;
}

int ListFigures(const RunOptions& options) {
  const PageStyle style = StyleOf(options);
  TextPage page(style.color, kMaxTextWidth);  // explanations stay whole
  WriteFigureList(page);
  return WriteOrExplain(kGateProgram, options.output, page.text());
}

int Write(const GateResult& result, const GateCommand& options) {
  Result<std::string> text = std::string();
  if (options.format == "json") {
    text = WriteJson(result);
  } else {
    const PageStyle style = StyleOf(options.run);
    TextPage page(style.color, style.width);
    WriteGate(result, page);
    text = page.text();
  }
  if (!text.ok()) {
    fmt::print(stderr, "{}: {}\n", kGateProgram, text.error());
    return kUnreadable;
  }
  if (!options.junit.empty()) {
    const int written =
        WriteOrExplain(kGateProgram, options.junit, WriteJunit(result, options.gate.allow_unknown));
    if (written != kReported) return written;
  }
  const int written = WriteOrExplain(kGateProgram, options.run.output, text.value());
  return written == kReported && !result.passed() ? kGateFailed : written;
}

}  // namespace

int RunGate(const std::vector<std::string>& arguments) {
  GateCommand options;
  CLI::App app("Fails if a run does not meet conditions or is slower than a baseline.",
               kGateProgram);
  DescribeGate(app, options);
  if (const auto exit_code = ParseRunArguments(app, arguments, options.run)) return *exit_code;
  if (options.list) return ListFigures(options.run);
  if (options.run.paths.empty()) return BadUsage("a run is required");
  if (const Status parsed = ParseConditions(options); !parsed.ok()) return BadUsage(parsed.error());
  const auto loaded = LoadOrExplain(options.run);
  if (const int* exit_code = std::get_if<int>(&loaded)) return *exit_code;
  ComparedRun run = PrepareRun(std::get<Run>(loaded), options.run.report);
  if (LacksSteps(options.run.report, run.report)) return ExplainNoSteps(kGateProgram, run.report);
  if (options.baseline.empty()) return Write(JudgeRun(run, nullptr, options.gate), options);
  const auto base = LoadOrExplain(OnlyPath(options.run, options.baseline));
  if (const int* exit_code = std::get_if<int>(&base)) return *exit_code;
  ComparedRun baseline = PrepareRun(std::get<Run>(base), options.run.report);
  if (LacksSteps(options.run.report, baseline.report))
    return ExplainNoSteps(kGateProgram, baseline.report);
  return Write(JudgeRun(run, &baseline, options.gate), options);
}

}  // namespace traceinject
