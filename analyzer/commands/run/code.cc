// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/run/table_command.h"
#include "analyzer/common/units.h"
#include "analyzer/import/open/open_recording.h"
#include "analyzer/metrics/report/report_code.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/full_tables.h"

namespace traceinject {
namespace {

constexpr char kCodeAbout[] =
    "Lines of the program: host time, the GPU idle time that is due to them, and the kernels that "
    "they launched.";
constexpr char kCodeDefinitions[] =
    "Idle time of the GPU belongs to the innermost line of the program's own code that the\n"
    "launching thread stood at; after a call that waited for the GPU, to the line of that call.\n"
    "What is called of installed packages and the standard library counts for the line that calls\n"
    "it. From samples (TRACEINJECT_STACKS_HZ), over the steps that the verdict judges; the\n"
    "columns *_low_ns and *_high_ns tell how sure that is. Rows of a library have host_total_ns\n"
    "only, unless no code of the program was on the stack, or with --full-stacks.\n"
    "Of programs without Python, rows are the functions that launched kernels or waited.\n";
constexpr char kCodeExamples[] =
    "  analyze code run.db --sort host_ns --limit 0\n"
    "  analyze code run.db --functions --filter model.py\n"
    "  analyze code run.db --modules --sort kernel_ns\n"
    "  analyze code run.db --full-stacks\n"
    "  analyze code run.db --columns idle_ns,idle_low_ns,idle_high_ns,line,text,file --format "
    "csv\n";

// Of a program without Python there are stacks of the calls that the recorder sees.
std::string WhyNoStacks(const Run& run) {
  for (const Rank& rank : run.ranks) {
    for (const SystemFact& fact : rank.facts) {
      if (fact.kind == "stacks" && fact.key == "native" && rank.stack_samples.size() == 0)
        return "no stacks were recorded: the program does not call a CUDA runtime that is a shared "
               "library (link with nvcc -cudart shared)";
    }
  }
  return "no stacks were recorded (TRACEINJECT_STACKS_HZ; analyze info says why)";
}

// Of a run with stacks.
std::string WhyNoModules(const Run& run) {
  for (const Rank& rank : run.ranks) {
    if (rank.stack_samples.size() == 0) continue;
    if (!rank.imported_from.empty())
      return fmt::format("no modules: {} does not say which module a stack is in",
                         rank.imported_from);
    if (rank.schema_version < kModulesSince)
      return fmt::format(
          "no modules: recorded by an older version (schema {}); modules are recorded since schema "
          "{}",
          rank.schema_version, kModulesSince);
    for (const SystemFact& fact : rank.facts) {
      if (fact.kind == "stacks" && fact.key == "native") return "no modules: no Python ran";
    }
  }
  return "no modules: no stack was in a call of a PyTorch module (their names are read with "
         "CPython 3.8 to 3.13, and not inside of compiled code)";
}

bool HasModules(const Report& report) {
  for (const proto::DeviceReport& device : report.devices()) {
    for (const proto::CodeRow& row : device.code()) {
      if (!row.module().empty()) return true;
    }
  }
  return false;
}

FullTable BuildCode(const Run& run, const ReportOptions& options, CodeGrouping grouping,
                    Table (*table)(const proto::Report&)) {
  FullTable full{BuildReportWithCode(run, options, grouping), "", {}, 0, false};
  std::int64_t steps = 0;
  for (const proto::DeviceReport& device : full.report.devices()) steps += device.code_steps();
  full.table = table(full.report);
  full.rows = static_cast<std::int64_t>(full.table.rows.size());
  full.summary = fmt::format("over {} of {}", Plural(steps, "step"),
                             Plural(full.report.devices_size(), "GPU"));
  if (full.rows == 0) {
    full.summary = WhyNoStacks(run);
  } else if (IsOfModules(grouping) && !HasModules(full.report)) {
    full.summary = WhyNoModules(run);
    full.table.rows.clear();  // one that is outside of all modules
    full.rows = 0;
  }
  return full;
}

FullTable BuildLines(const Run& run, const ReportOptions& options, std::optional<std::size_t>) {
  return BuildCode(run, options, CodeGrouping::kLine, CodeLineTable);
}
FullTable BuildFunctions(const Run& run, const ReportOptions& options, std::optional<std::size_t>) {
  return BuildCode(run, options, CodeGrouping::kFunction, CodeFunctionTable);
}
FullTable BuildModules(const Run& run, const ReportOptions& options, std::optional<std::size_t>) {
  return BuildCode(run, options, CodeGrouping::kModules, CodeModuleTable);
}
FullTable BuildEachModule(const Run& run, const ReportOptions& options,
                          std::optional<std::size_t>) {
  return BuildCode(run, options, CodeGrouping::kEachModule, CodeModuleTable);
}
FullTable BuildThreads(const Run& run, const ReportOptions& options, std::optional<std::size_t>) {
  return BuildCode(run, options, CodeGrouping::kThread, CodeThreadTable);
}

void AddCodeOptions(CLI::App& app, ReportOptions& options) {
  app.add_flag_callback(
      "--full-stacks", [&options] { options.site = SiteFrame::kInnermost; },
      "the innermost frame of a stack counts, a library's too, not the program's own line that led "
      "to it");
}

}  // namespace

int RunCode(const std::vector<std::string>& arguments) {
  const auto command = [](std::vector<TableColumn> columns, auto build, const char* flag,
                          const char* help) {
    TableCommand one{"analyze code", kCodeAbout,         kCodeDefinitions,
                     kCodeExamples,  std::move(columns), build};
    one.flag = flag;
    one.flag_help = help;
    if (build == BuildLines || build == BuildFunctions) one.add_options = AddCodeOptions;
    return one;
  };
  const TableCommand tables[] = {
      command(CodeLineColumns(), BuildLines, nullptr, nullptr),
      command(CodeFunctionColumns(), BuildFunctions, "--functions", "by function, not by line"),
      command(CodeModuleColumns(), BuildModules, "--modules",
              "by module of PyTorch, numbered layers together (GPT.h.*.attn)"),
      command(CodeModuleColumns(), BuildEachModule, "--each-module",
              "by module of PyTorch, each layer for itself (GPT.h.3.attn)"),
      command(CodeThreadColumns(), BuildThreads, "--threads", "by thread, also of workers")};
  return RunTable(tables, arguments);
}

}  // namespace traceinject
