// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/run/table_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/row_options.h"
#include "analyzer/metrics/idle/process_label.h"
#include "analyzer/report/layout/text_notation.h"

namespace traceinject {
namespace {

struct TableOptions {
  RunOptions run;
  RowOptions rows;
};

// They were looked at before the other options, whose columns depend on them.
void AddTableFlags(CLI::App& app, std::span<const TableCommand> tables) {
  std::vector<CLI::Option*> flags;
  for (const TableCommand& table : tables) {
    if (table.flag == nullptr) continue;
    CLI::Option* const flag = app.add_flag(table.flag, table.flag_help);
    for (CLI::Option* const other : flags) flag->excludes(other);
    flags.push_back(flag);
  }
}

const TableCommand& ChosenTable(std::span<const TableCommand> tables,
                                const std::vector<std::string>& arguments) {
  for (const TableCommand& table : tables) {
    if (table.flag != nullptr &&
        std::find(arguments.begin(), arguments.end(), table.flag) != arguments.end())
      return table;
  }
  return tables.front();
}

void Describe(CLI::App& app, const TableCommand& command, TableOptions& options) {
  app.footer(
      fmt::format("Columns, for --sort and --columns, as named in csv and json:\n"
                  "{}\n"
                  "{}\n"
                  "Examples:\n"
                  "{}",
                  ColumnHelp(command.columns), command.definitions, command.examples));
  AddRunOptions(app, options.run);
  AddAllFlag(app, options.run.report);
  app.add_option("--rank", options.run.report.devices.rank, "only the process of this rank")
      ->check(WholeNumberFrom(0));
  app.add_option("--device", options.run.report.devices.ordinal,
                 "only GPUs with this CUDA ordinal (in each process)")
      ->check(WholeNumberFrom(0));
  AddRowOptions(app, command.columns, options.rows);
  if (command.add_options != nullptr) command.add_options(app, options.run.report);
}

// What --rank and --device can be; empty: some GPU that worked is what they say.
std::string ChoicesInstead(const Run& run, const DeviceChoice& chosen) {
  std::string choices;
  for (const Rank& rank : run.ranks) {
    for (const Device& device : rank.devices) {
      if (device.ops.size() == 0) continue;
      if (chosen.takes(rank, device)) return "";
      choices += fmt::format("{}{} --device {}", choices.empty() ? "" : ", ",
                             rank.rank ? fmt::format("--rank {}", *rank.rank) : "no --rank and",
                             device.ordinal);
    }
  }
  return choices;
}

// What a reader of the figures has to know.
std::vector<std::string> Notes(const Report& report) {
  std::vector<std::string> notes(report.notes().begin(), report.notes().end());
  if (report.health().grade() != proto::Health::GRADE_GOOD)
    notes.push_back(fmt::format("trace health is {}; analyze report explains why",
                                HealthGradeText(report.health().grade())));
  for (const proto::Withheld& withheld : report.trust().withheld())
    notes.push_back(WithheldText(report, withheld));
  return notes;
}

// "over 24 of 30 steps: 12..35; --all: over the whole recording".
void WriteScope(const proto::Scope& scope, TextPage& page) {
  if (scope.text().empty()) return;
  const bool judged = scope.steps() > 0 && !scope.all();
  page.Sentence(
      fmt::format("over {}{}", scope.text(), judged ? "; --all: over the whole recording" : ""), 0);
}

std::string TextOf(const FullTable& full, std::int64_t left_out, const TableOptions& options) {
  const PageStyle style = StyleOf(options.run);
  TextPage page(style.color, style.width);
  // Sums over figures that are withheld would be wrong.
  const bool withheld = full.table.rows.empty() && !full.report.trust().withheld().empty();
  if (!full.summary.empty() && !withheld) page.Sentence(full.summary, 0);
  if (full.judged && !withheld) WriteScope(full.report.scope(), page);
  if (full.table.rows.empty()) page.Sentence(withheld ? "no figures can be reported" : "no rows");
  WriteRows(full.table, left_out, options.rows, style.width, page);
  for (const std::string& note : Notes(full.report)) page.Sentence("note: " + note);
  return page.text();
}

std::string RenderTable(const FullTable& full, std::int64_t left_out, const TableOptions& options) {
  if (options.rows.format == "text") return TextOf(full, left_out, options);
  if (full.rows == 0 && !full.summary.empty()) fmt::print(stderr, "note: {}\n", full.summary);
  for (const std::string& note : Notes(full.report)) fmt::print(stderr, "note: {}\n", note);
  return RenderRows(full.table, left_out, options.rows);
}

}  // namespace

int RunTable(std::span<const TableCommand> tables, const std::vector<std::string>& arguments) {
  const TableCommand& command = ChosenTable(tables, arguments);
  TableOptions options;
  CLI::App app(command.about, command.program);
  AddTableFlags(app, tables);
  Describe(app, command, options);
  if (const auto exit_code = ParseRunArguments(app, arguments, options.run)) return *exit_code;
  const auto run = LoadOrExplain(options.run);
  if (const int* exit_code = std::get_if<int>(&run)) return *exit_code;
  const std::string choices = ChoicesInstead(std::get<Run>(run), options.run.report.devices);
  if (!choices.empty()) {
    fmt::print(stderr, "{}: no such GPU did any work; these did: {}\n", command.program, choices);
    return kBadUsage;
  }
  FullTable full =
      command.build(std::get<Run>(run), options.run.report,
                    options.rows.own_order() ? options.rows.row_limit() : std::nullopt);
  if (LacksSteps(options.run.report, full.report))
    return ExplainNoSteps(command.program, full.report);
  const std::int64_t left_out = ChooseRows(full.table, full.rows, options.rows);
  return WriteOrExplain(command.program, options.run.output, RenderTable(full, left_out, options));
}

}  // namespace traceinject
