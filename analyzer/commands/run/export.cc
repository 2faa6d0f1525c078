// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/commands/run/export_chakra.h"
#include "analyzer/commands/run/export_path.h"
#include "analyzer/commands/run/export_rows.h"
#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/mfu_options.h"
#include "analyzer/commands/shared/run_options.h"
#include "analyzer/common/units.h"
#include "analyzer/export/chrome_trace.h"
#include "analyzer/export/code_stacks.h"
#include "analyzer/export/columns/event_columns.h"
#include "analyzer/export/output_file.h"
#include "analyzer/export/perfetto_trace.h"
#include "analyzer/export/rpd/rpd_trace.h"
#include "analyzer/import/open/run_paths.h"
#include "analyzer/merge/new_run_db.h"
#include "analyzer/report/formats/openmetrics.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

constexpr char kExportProgram[] = "analyze export";
constexpr char kExportExamples[] =
    "Examples:\n"
    "  analyze export run.db -o trace.pftrace            for ui.perfetto.dev: all ranks, streams, "
    "threads, steps, counters\n"
    "  analyze export run.db -o trace.json.gz            in torch.profiler's format, for HTA, "
    "TraceLens, chrome://tracing;\n"
    "                                                    several ranks: trace.rank00000.json.gz, "
    "...\n"
    "  analyze export run.db -o trace.rpd                for the tools of rocmProfileData\n"
    "  analyze export run.db -o run.chakra --steps 10..12   a folder for ASTRA-sim and other "
    "simulators: run.chakra/trace.0.et, ...\n"
    "  analyze export run.db -o train.speedscope.json    sampled Python stacks, for "
    "speedscope.app\n"
    "  analyze export run.db -o kernels.csv --table kernels\n"
    "  analyze export run.db -o run.prom                 for node_exporter's textfile collector\n"
    "  analyze export run.db --to openmetrics            to stdout\n"
    "analyze export --list-metrics lists the metrics, their units and their meaning.\n";

struct ExportOptions {
  RunOptions run;
  std::string format, table, columns;
  bool list_metrics = false;
};

int Say(const std::string& error) {
  fmt::print(stderr, "{}: {}\n", kExportProgram, error);
  return kUnreadable;
}

// What was written, on stderr: stdout may be the file.
void SayWritten(const std::string& path, const ExportCounts& counts, std::string_view what,
                std::uint64_t bytes) {
  if (path != "-")
    fmt::print(stderr, "{}: {} in {}\n", path,
               Plural(static_cast<std::int64_t>(counts.events), what),
               FormatBytes(static_cast<std::int64_t>(bytes)));
  if (counts.left_out > 0)
    fmt::print(stderr, "note: {} left out: more overlapped than there are tracks\n",
               Plural(static_cast<std::int64_t>(counts.left_out), "event"));
}

// As LoadOrExplain(), and says what was left out.
std::variant<Run, int> LoadForExport(const RunOptions& options) {
  auto run = LoadOrExplain(options);
  if (const Run* loaded = std::get_if<Run>(&run)) {
    for (const std::string& note : loaded->notes) fmt::print(stderr, "note: {}\n", note);
  }
  return run;
}

template <typename Write>
int WriteFile(const std::string& path, Write write) {
  auto file = OutputFile::Create(path, path.ends_with(".gz") ? Packing::kGzip : Packing::kPlain);
  if (!file.ok()) return Say(file.error());
  const ExportCounts counts = write(file.value());
  const Status closed = file.value().Close();
  if (!closed.ok()) return Say(closed.error());
  SayWritten(path, counts, "event", file.value().bytes());
  return kReported;
}

int ExportPerfetto(const Run& run, const ExportOptions& options) {
  return WriteFile(options.run.output,
                   [&](OutputFile& file) { return WritePerfettoTrace(run, file); });
}

int ExportSpeedscope(const Run& run, const ExportOptions& options) {
  return WriteFile(options.run.output,
                   [&](OutputFile& file) { return WriteSpeedscope(run, file); });
}

int ExportCollapsed(const Run& run, const ExportOptions& options) {
  return WriteFile(options.run.output,
                   [&](OutputFile& file) { return WriteCollapsedStacks(run, file); });
}

int ExportChrome(const Run& run, const ExportOptions& options) {
  const std::string& output = options.run.output;
  if (output == "-" && run.ranks.size() > 1) {
    fmt::print(stderr,
               "{}: this format holds one process per file, and the run has {}; name a file with "
               "-o to write one file per rank\n",
               kExportProgram, run.ranks.size());
    return kBadUsage;
  }
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    const std::string path = run.ranks.size() == 1 ? output : PathOfRank(output, run, rank);
    const int exit_code =
        WriteFile(path, [&](OutputFile& file) { return WriteChromeTrace(run, rank, file); });
    if (exit_code != kReported) return exit_code;
  }
  return kReported;
}

// What cannot be written to stdout.
int SayNoStream() {
  fmt::print(stderr, "{}: this format cannot be written to stdout; name a file with -o\n",
             kExportProgram);
  return kBadUsage;
}

int ExportRpd(const Run& run, const ExportOptions& options) {
  const std::string& output = options.run.output;
  if (output == "-") return SayNoStream();
  if (const Status free = ExpectFree(output, true, options.run.paths); !free.ok())
    return Say(free.error());
  const auto counts = WriteRpdTrace(run, output);
  if (!counts.ok()) return Say(counts.error());
  std::error_code ignored;
  SayWritten(output, counts.value(), "event", std::filesystem::file_size(output, ignored));
  return kReported;
}

int ExportChakra(const Run& run, const ExportOptions& options) {
  if (options.run.output == "-") return SayNoStream();
  return ExportChakraFolder(run, options.run.output, options.run.report.steps);
}

// Leaves those named, between commas, in this order. Error: there is none of a name.
Status ChooseColumns(const std::string& list, ColumnTable& table) {
  std::vector<Column> chosen;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string name = list.substr(at, end - at);
    at = end + 1;
    const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                    [&](const Column& column) { return column.name == name; });
    if (found == table.columns.end()) {
      std::string there;
      for (const Column& column : table.columns) there += (there.empty() ? "" : ", ") + column.name;
      return Error{
          fmt::format("--columns: {} has no column {}; it has {}", table.name, name, there)};
    }
    chosen.push_back(*found);
  }
  table.columns = std::move(chosen);
  return Done{};
}

// The columns that are asked for. Error: there is no such table, or no such column.
Result<ColumnTable> ColumnsOfRun(const Run& run, const ExportOptions& options) {
  std::optional<ColumnTable> table = EventColumns(run, options.table);
  if (!table)
    return Error{
        fmt::format("no table {} of events; there are {}", options.table, EventTableNames())};
  if (options.columns.empty()) return std::move(*table);
  const Status chosen = ChooseColumns(options.columns, *table);
  if (!chosen.ok()) return Error{chosen.error()};
  return std::move(*table);
}

int ExportColumns(const ExportOptions& options) {
  // Of any run, as one without events: what there is, and what it takes.
  const Run none;
  const Result<ColumnTable> asked = ColumnsOfRun(none, options);
  if (!asked.ok()) {
    fmt::print(stderr, "{}: {}\n", kExportProgram, asked.error());
    return kBadUsage;
  }
  RunOptions with_tables = options.run;
  with_tables.tables = TablesOf(asked.value());
  const auto run = LoadForExport(with_tables);
  if (const int* exit_code = std::get_if<int>(&run)) return *exit_code;
  const Result<ColumnTable> table = ColumnsOfRun(std::get<Run>(run), options);
  auto file = OutputFile::Create(options.run.output);
  if (!file.ok()) return Say(file.error());
  WriteColumns(table.value(), file.value());
  const Status closed = file.value().Close();
  if (!closed.ok()) return Say(closed.error());
  SayWritten(options.run.output, {.events = table.value().rows}, "row", file.value().bytes());
  return kReported;
}

int WriteMetrics(const Run& run, MetricsDialect dialect, const ExportOptions& options) {
  const std::string text =
      WriteOpenMetrics(BuildReportWithVerdict(run, options.run.report), dialect);
  auto file = OutputFile::Create(options.run.output);
  if (!file.ok()) return Say(file.error());
  file.value().Write(text);
  const Status closed = file.value().Close();
  return closed.ok() ? kReported : Say(closed.error());
}

int ExportOpenMetrics(const Run& run, const ExportOptions& options) {
  return WriteMetrics(run, MetricsDialect::kOpenMetrics, options);
}

int ExportPrometheus(const Run& run, const ExportOptions& options) {
  return WriteMetrics(run, MetricsDialect::kPrometheus, options);
}

// The full tables are those of commands, which write CSV themselves; anything else is a table of
// the recording.
int ExportCsv(const ExportOptions& options) {
  std::vector<std::string> arguments = options.run.paths;
  const auto add = [&](std::initializer_list<const char*> more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
  };
  if (const CsvTable* table = FindCsvTable(options.table)) {
    if (*table->flag != '\0') add({table->flag});
    if (options.run.report.all) add({"--all"});
    add({"--format", "csv", "--limit", "0", "-o", options.run.output.c_str()});
    return table->run(arguments);
  }
  const auto recordings = ResolveRunPaths(options.run.paths);
  if (!recordings.ok()) return Say(recordings.error());
  for (const std::string& note : recordings.value().notes) fmt::print(stderr, "note: {}\n", note);
  auto file = OutputFile::Create(options.run.output);
  if (!file.ok()) return Say(file.error());
  const auto rows = WriteTableRows(recordings.value().files, options.table, file.value());
  if (!rows.ok()) return Say(rows.error());
  const Status closed = file.value().Close();
  if (!closed.ok()) return Say(closed.error());
  SayWritten(options.run.output, {.events = rows.value()}, "row", file.value().bytes());
  return kReported;
}

// These write one table.
constexpr std::string_view kCsv = "csv", kColumns = "columns";
// This one writes a folder.
constexpr std::string_view kChakra = "chakra";

struct Format {
  std::string_view name, what;
  std::vector<std::string_view> suffixes;
  int (*write)(const Run& run, const ExportOptions& options) = nullptr;
  int (*load_and_write)(const ExportOptions& options) = nullptr;  // instead: needs no whole run
};
const std::vector<Format>& Formats() {
  static const std::vector<Format> formats = {
      {"perfetto",
       "Perfetto's native format, all ranks in one file",
       {".pftrace", ".perfetto-trace", ".pftrace.gz"},
       ExportPerfetto},
      {"speedscope",
       "sampled Python stacks for speedscope.app, a profile for each thread",
       {".speedscope.json"},
       ExportSpeedscope},
      {"collapsed",
       "the same as collapsed stacks, for flame graphs",
       {".collapsed", ".folded"},
       ExportCollapsed},
      {"chrome",
       "Chrome JSON in torch.profiler's format, one file per rank",
       {".json", ".json.gz"},
       ExportChrome},
      {"rpd", "a trace of rocmProfileData, an SQLite file of all ranks", {".rpd"}, ExportRpd},
      {kChakra,
       "a folder of Chakra's execution traces, one per rank, for simulators",
       {".chakra"},
       ExportChakra},
      {kCsv, "one table, see --table", {".csv"}, nullptr, ExportCsv},
      {kColumns,
       "the events of one kind, see --table, in the binary form that docs/formats.md describes",
       {".columns"},
       nullptr,
       ExportColumns},
      {"openmetrics", "the report's figures as OpenMetrics", {".om"}, ExportOpenMetrics},
      {"prometheus",
       "the same in Prometheus's older text format, as node_exporter expects",
       {".prom"},
       ExportPrometheus},
  };
  return formats;
}

// One of them.
const Format& FormatNamed(std::string_view name) {
  return *std::find_if(Formats().begin(), Formats().end(),
                       [&](const Format& format) { return format.name == name; });
}

// By the name of the file; empty: it does not report.
std::string FormatOf(const std::string& path) {
  for (const Format& format : Formats()) {
    for (const std::string_view suffix : format.suffixes) {
      if (path.ends_with(suffix)) return std::string(format.name);
    }
  }
  return "";
}

void Describe(CLI::App& app, ExportOptions& options) {
  app.footer(
      fmt::format("Tables for --table: {}; or any table or view of the recording. With --to "
                  "columns: {}.\n\n{}",
                  CsvTableNames(), EventTableNames(), kExportExamples));
  CLI::Option* const list =
      app.add_flag("--list-metrics", options.list_metrics, "list the metrics and exit");
  app.add_option("run", options.run.paths,
                 "recordings (run.db stands for run.rank*.db), folders, or PyTorch profiler traces")
      ->excludes(list);
  std::vector<std::string> names;
  std::string help = "the format; by default taken from the output's name";
  for (const Format& format : Formats()) {
    names.emplace_back(format.name);
    help += fmt::format("; {}: {} ({})", format.name, format.what, format.suffixes.front());
  }
  app.add_option("--to", options.format, help)->check(CLI::IsMember(names));
  AddMfuOptions(app, options.run.report.mfu);
  AddAllFlag(app, options.run.report);
  app.add_option("--table", options.table, "for csv and columns: which table");
  app.add_option("--columns", options.columns,
                 "for columns: only these, in this order, separated by commas")
      ->type_name("COLUMN,...");
  AddStepNumbers(app, options.run.report,
                 "for chakra: only these steps of each GPU, as analyze steps numbers them");
  AddOutput(app, options.run.output);
  app.add_flag("--no-progress", options.run.no_progress, "don't draw a progress bar");
}

// What is wrong with --table; empty: nothing.
std::string WrongTable(const ExportOptions& options) {
  const bool takes_one = options.format == kCsv || options.format == kColumns;
  if (!options.columns.empty() && options.format != kColumns) return "--columns requires columns";
  if (takes_one == !options.table.empty()) return "";
  if (!takes_one) return "--table requires csv or columns";
  if (options.format == kColumns)
    return fmt::format("columns needs --table: {}", EventTableNames());
  return fmt::format("csv needs --table: {}, or any table or view of the recording",
                     CsvTableNames());
}

// Empty: go on.
std::optional<int> CheckUsage(ExportOptions& options) {
  std::string wrong;
  if (options.format.empty()) options.format = FormatOf(options.run.output);
  if (options.run.paths.empty()) {
    wrong = "name a recording, as in: analyze export run.db -o trace.pftrace";
  } else if (options.format.empty()) {
    wrong = fmt::format("cannot tell the format from {}: name one with --to",
                        options.run.output == "-" ? "stdout" : options.run.output);
  } else if (options.run.report.steps && options.format != kChakra) {
    wrong = "--steps requires chakra";
  } else {
    wrong = WrongTable(options);
  }
  if (wrong.empty()) return std::nullopt;
  fmt::print(stderr, "{}: {}\n", kExportProgram, wrong);
  return kBadUsage;
}

}  // namespace

int RunExport(const std::vector<std::string>& arguments) {
  ExportOptions options;
  CLI::App app("Writes a run in other tools' formats.", kExportProgram);
  Describe(app, options);
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  if (options.list_metrics) {
    fmt::print("{}", MetricTable());
    return kReported;
  }
  if (const auto exit_code = CheckUsage(options)) return *exit_code;
  const Format& format = FormatNamed(options.format);
  if (format.load_and_write != nullptr) return format.load_and_write(options);
  const auto run = LoadForExport(options.run);
  if (const int* exit_code = std::get_if<int>(&run)) return *exit_code;
  return format.write(std::get<Run>(run), options);
}

}  // namespace traceinject
