// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/table_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "analyzer/commands/analyze.h"
#include "analyzer/commands/name_filter.h"
#include "analyzer/commands/output.h"
#include "analyzer/commands/sql_rows.h"
#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/metrics/process_label.h"
#include "analyzer/report/text_notation.h"

namespace traceinject {
namespace {

constexpr std::size_t kTextRows = 20;

struct Options {
  RunOptions run;
  std::string format = "text";
  std::optional<std::size_t> sort;
  bool reverse = false;
  std::optional<NameFilter> filter;
  std::optional<std::int64_t> limit;
  std::vector<std::size_t> columns;  // empty: not chosen

  // Empty: all.
  std::optional<std::size_t> row_limit() const {
    if (!limit) return format == "text" ? std::optional(kTextRows) : std::nullopt;
    return *limit == 0 ? std::nullopt : std::optional(static_cast<std::size_t>(*limit));
  }
};

// Throws what CLI11 reports as an error of that option.
std::size_t ColumnOrThrow(std::span<const TableColumn> columns, const std::string& name,
                          const char* option) {
  if (const auto column = FindColumn(columns, name)) return *column;
  std::vector<std::string_view> names;
  std::string list;
  for (const TableColumn& column : columns) {
    names.push_back(column.name);
    list += (list.empty() ? "" : ", ") + std::string(column.name);
  }
  const auto nearest = NearestWord(name, names);
  throw CLI::ValidationError(
      option,
      fmt::format("there is no column '{}'{}; columns are {}", name,
                  nearest ? fmt::format(", did you mean '{}'?", *nearest) : std::string(), list));
}

// "name,count"; "all".
std::vector<std::size_t> ParseColumns(std::span<const TableColumn> columns,
                                      const std::string& list) {
  std::vector<std::size_t> chosen;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string name = list.substr(at, end - at);
    at = end + 1;
    if (name != "all") {
      chosen.push_back(ColumnOrThrow(columns, name, "--columns"));
      continue;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) chosen.push_back(i);
  }
  return chosen;
}

void AddRowOptions(CLI::App& app, const TableCommand& command, Options& options) {
  app.add_option_function<std::string>(
         "--sort",
         [&](const std::string& name) {
           options.sort = ColumnOrThrow(command.columns, name, "--sort");
         },
         "by this column: amounts largest first, names, numbers and times smallest first")
      ->type_name("COLUMN");
  app.add_flag("--reverse", options.reverse, "the other way round");
  app.add_option_function<std::string>(
         "--filter",
         [&](const std::string& text) {
           auto parsed = NameFilter::Parse(text);
           if (!parsed.ok()) throw CLI::ValidationError("--filter", parsed.error());
           options.filter = std::move(parsed).value();
         },
         "only rows with a text in which this regular expression matches")
      ->type_name("REGEX");
  app.add_option("--limit", options.limit,
                 "print so many rows; 0: all. Without it 20 in text, all in csv and json")
      ->check(WholeNumberFrom(0));
  app.add_option_function<std::string>(
         "--columns",
         [&](const std::string& list) { options.columns = ParseColumns(command.columns, list); },
         "these, in this order, separated by commas; all: every one. csv and json have all")
      ->type_name("COLUMN,...");
}

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

void Describe(CLI::App& app, const TableCommand& command, Options& options) {
  app.footer(
      fmt::format("Columns, for --sort and --columns, and as csv and json name them:\n{}\n"
                  "{}\nExamples:\n{}",
                  ColumnHelp(command.columns), command.definitions, command.examples));
  AddRunOptions(app, options.run);
  app.add_option("--rank", options.run.report.devices.rank, "only the process of this rank")
      ->check(WholeNumberFrom(0));
  app.add_option("--device", options.run.report.devices.ordinal,
                 "only GPUs of this CUDA ordinal (of each process)")
      ->check(WholeNumberFrom(0));
  AddRowOptions(app, command, options);
  app.add_option("--format", options.format, "text, csv or json (a list of objects)")
      ->check(CLI::IsMember({"text", "csv", "json"}))
      ->capture_default_str();
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

SqlCell RawCell(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return {SqlCell::Kind::kText, *text};
  if (const auto* whole = std::get_if<std::int64_t>(&cell))
    return {SqlCell::Kind::kNumber, fmt::format("{}", *whole)};
  const auto* number = std::get_if<double>(&cell);
  if (number == nullptr || !std::isfinite(*number)) return {};
  return {SqlCell::Kind::kNumber, fmt::format("{}", *number)};
}

SqlRows RawRows(const Table& table) {
  SqlRows raw;
  for (const TableColumn& column : table.columns) raw.columns.emplace_back(column.name);
  for (const auto& row : table.rows) {
    auto& cells = raw.rows.emplace_back();
    for (const Cell& cell : row) cells.push_back(RawCell(cell));
  }
  return raw;
}

// What a reader of the figures has to know.
std::vector<std::string> Notes(const Report& report) {
  std::vector<std::string> notes(report.notes().begin(), report.notes().end());
  if (report.health().grade() != proto::Health::GRADE_GOOD)
    notes.push_back(fmt::format("trace health is {}; analyze report says why",
                                HealthGradeText(report.health().grade())));
  for (const proto::Withheld& withheld : report.trust().withheld())
    notes.push_back(WithheldText(report, withheld));
  return notes;
}

std::string TextOf(const FullTable& full, std::int64_t left_out, const Options& options) {
  const PageStyle style = StyleOf(options.run);
  TextPage page(style.color, style.width);
  // Sums over figures that are withheld would be wrong.
  const bool withheld = full.table.rows.empty() && !full.report.trust().withheld().empty();
  if (!full.summary.empty() && !withheld) page.Sentence(full.summary, 0);
  if (full.table.rows.empty()) page.Sentence(withheld ? "no figures can be given" : "no rows");
  const std::vector<std::string> hidden =
      WriteTable(full.table, {.width = style.width, .all_columns = !options.columns.empty()}, page);
  if (left_out > 0)
    page.Sentence(fmt::format("({} more; --limit 0 shows all)", FormatCount(left_out)));
  if (!hidden.empty())
    page.Sentence(fmt::format("more columns, for --columns: {}", fmt::join(hidden, ", ")));
  for (const std::string& note : Notes(full.report)) page.Sentence("note: " + note);
  return page.text();
}

std::string Render(const FullTable& full, std::int64_t left_out, const Options& options) {
  if (options.format == "text") return TextOf(full, left_out, options);
  for (const std::string& note : Notes(full.report)) fmt::print(stderr, "note: {}\n", note);
  if (left_out > 0) fmt::print(stderr, "note: {} more rows; --limit 0 writes all\n", left_out);
  const SqlRows raw = RawRows(full.table);
  return options.format == "csv" ? FormatRowsAsCsv(raw) : FormatRowsAsJson(raw);
}

// Returns how many rows were left out by --limit.
std::int64_t ChooseRows(FullTable& full, const Options& options) {
  Table& table = full.table;
  if (options.filter) {
    FilterTable(table, [&](const std::string& text) { return options.filter->Matches(text); });
    full.rows = static_cast<std::int64_t>(table.rows.size());
  }
  if (options.sort)
    SortTable(table, *options.sort, options.reverse);
  else if (options.reverse)
    std::reverse(table.rows.begin(), table.rows.end());
  if (const auto limit = options.row_limit(); limit && table.rows.size() > *limit)
    table.rows.resize(*limit);
  if (!options.columns.empty()) ChooseColumns(table, options.columns);
  return full.rows - static_cast<std::int64_t>(table.rows.size());
}

}  // namespace

int RunTable(std::span<const TableCommand> tables, const std::vector<std::string>& arguments) {
  const TableCommand& command = ChosenTable(tables, arguments);
  Options options;
  CLI::App app(command.about, command.program);
  AddTableFlags(app, tables);
  Describe(app, command, options);
  if (const auto exit_code = ParseRunArguments(app, arguments, options.run)) return *exit_code;
  const auto run = LoadOrExplain(options.run);
  if (const int* exit_code = std::get_if<int>(&run)) return *exit_code;
  const std::string choices = ChoicesInstead(std::get<Run>(run), options.run.report.devices);
  if (!choices.empty()) {
    fmt::print(stderr, "{}: no such GPU did any work; there are: {}\n", command.program, choices);
    return kBadUsage;
  }
  const bool own_order = !options.sort && !options.reverse && !options.filter;
  FullTable full = command.build(std::get<Run>(run), options.run.report,
                                 own_order ? options.row_limit() : std::nullopt);
  const std::int64_t left_out = ChooseRows(full, options);
  return WriteOrExplain(command.program, options.run.output, Render(full, left_out, options));
}

}  // namespace traceinject
