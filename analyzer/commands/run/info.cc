// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/commands/run/machine_text.h"
#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/missing_run.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/sql_rows.h"
#include "analyzer/common/json_text.h"
#include "analyzer/common/printable.h"
#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/convert/open_as_recordings.h"
#include "analyzer/import/open/run_paths.h"
#include "analyzer/import/source/trace_source.h"
#include "schemas/health_counters.h"

namespace traceinject {
namespace {

constexpr char kInfoProgram[] = "analyze info";

// What one file tells about itself. Rows keep the names of the columns in run_db.sql.
struct FileInfo {
  std::string path;
  std::int64_t bytes = 0;
  SqlRows meta, processes, devices, tables, health, facts;
};

constexpr std::array<std::string_view, 20> kTables = {
    "kernel",      "memcpy",     "memset",       "api",          "sync",
    "nvtx",        "collective", "communicator", "kernel_shape", "graph_node",
    "string",      "thread",     "stream",       "device",       "api_name",
    "nvtx_domain", "clock_pair", "capture_gap",  "system_fact",  "health"};

constexpr std::array<std::string_view, 4> kTablesOfVersion2 = {"data_loader", "data_wait",
                                                               "step_mark", "host_span"};
constexpr std::array<std::string_view, 14> kTablesOfVersion3 = {
    "collective_plan",  "gemm_shape",      "gemm",          "device_sample",   "device_slow_sample",
    "host_sample",      "worker",          "worker_sample", "nccl_setup",      "nccl_link",
    "memory_operation", "attention_shape", "attention",     "allocator_sample"};

constexpr std::array<std::string_view, 3> kTablesOfVersion8 = {"counter_set", "counter",
                                                               "counter_sample"};

std::string CountTables(int schema_version) {
  std::vector<std::string_view> tables(kTables.begin(), kTables.end());
  if (schema_version >= 2)
    tables.insert(tables.end(), kTablesOfVersion2.begin(), kTablesOfVersion2.end());
  if (schema_version >= 3)
    tables.insert(tables.end(), kTablesOfVersion3.begin(), kTablesOfVersion3.end());
  if (schema_version >= 8)
    tables.insert(tables.end(), kTablesOfVersion8.begin(), kTablesOfVersion8.end());
  std::string sql;
  for (const std::string_view table : tables) {
    if (!sql.empty()) sql += " UNION ALL ";
    sql += fmt::format("SELECT '{0}' AS name, count(*) AS rows FROM {0}", table);
  }
  return sql;
}

Result<FileInfo> Look(const Database& database) {
  FileInfo info;
  info.path = database.path();
  std::error_code ignored;
  info.bytes = static_cast<std::int64_t>(std::filesystem::file_size(info.path, ignored));
  auto version = database.Prepare("PRAGMA user_version");
  if (!version.ok()) return Error{version.error()};
  const auto has_version = version.value().Step();
  if (!has_version.ok()) return Error{has_version.error()};
  const int schema_version = static_cast<int>(version.value().int64(0));
  struct Part {
    SqlRows FileInfo::*rows;
    std::string sql;
  };
  const Part parts[] = {
      {&FileInfo::meta,
       "SELECT 'schema_version' AS key, (SELECT user_version FROM pragma_user_version) AS value "
       "UNION ALL SELECT key, value FROM meta"},
      {&FileInfo::processes, "SELECT * FROM process ORDER BY proc"},
      {&FileInfo::devices, "SELECT * FROM device ORDER BY proc, device"},
      {&FileInfo::tables, CountTables(schema_version)},
      {&FileInfo::health,
       "SELECT source, counter, value, detail, proc FROM health ORDER BY proc, source, counter"},
      {&FileInfo::facts,
       fmt::format("SELECT kind, key, value, {}, proc FROM system_fact ORDER BY proc, kind, key",
                   schema_version >= 3 ? "reason" : "NULL AS reason")},
  };
  for (const Part& part : parts) {
    auto rows = Query(database, part.sql);
    if (!rows.ok()) return Error{rows.error()};
    info.*part.rows = std::move(rows).value();
  }
  return info;
}

// Adds what a file tells, of the trace of another profiler each process.
Status LookAt(const std::string& path, std::vector<FileInfo>& files) {
  const auto databases = OpenAsRecordings(path);
  if (!databases.ok()) return Error{databases.error()};
  for (const Database& database : databases.value()) {
    auto info = Look(database);
    if (!info.ok()) return Error{info.error()};
    files.push_back(std::move(info).value());
  }
  return Done{};
}

// A row written downwards, without its NULLs.
std::string Upright(const SqlRows& rows, std::size_t row) {
  TableText table;
  for (std::size_t column = 0; column < rows.columns.size(); ++column) {
    const SqlCell& cell = rows.rows[row][column];
    if (cell.kind != SqlCell::Kind::kNull)
      table.rows.push_back({rows.columns[column], Printable(cell.text)});
  }
  return FormatTable(table, "    ");
}

std::string TableSizes(const SqlRows& tables) {
  TableText table;
  table.align_right = {false, true};
  for (const auto& row : tables.rows) {
    const std::int64_t count = std::strtoll(row[1].text.c_str(), nullptr, 10);
    if (count > 0) table.rows.push_back({row[0].text, FormatCount(count)});
  }
  return table.rows.empty() ? "    all empty\n" : FormatTable(table, "    ");
}

std::string_view SeverityName(HealthSeverity severity) {
  switch (severity) {
    case HealthSeverity::kInfo:
      return "";
    case HealthSeverity::kNotice:
      return "notice";
    case HealthSeverity::kDataLoss:
      return "data loss";
    case HealthSeverity::kError:
      return "error";
  }
  return "";
}

// Severity and meaning of a counter, from the list that the recorder counts by.
std::pair<std::string_view, std::string_view> Meaning(const std::string& source,
                                                      const std::string& counter) {
  for (const HealthCounterInfo& info : kHealthCounters) {
    if (info.source == source && info.counter == counter)
      return {SeverityName(info.severity), info.description};
  }
  return {"", ""};
}

// Traces of other profilers have no counters.
std::string ImportText(const std::vector<Fact>& facts) {
  std::string text;
  for (const Fact& fact : facts) {
    if (fact.kind != kImportFact) continue;
    if (fact.key == kSourceKey)
      text = fmt::format("    no counters: imported from {}\n{}",
                         FindTraceSource(&TraceSource::word, fact.value).what, text);
    if (fact.key.starts_with(kNotePrefix)) text += fmt::format("    {}\n", Printable(fact.value));
  }
  return text;
}

std::string HealthText(const SqlRows& health) {
  TableText table;
  table.align_right = {false, true};
  for (const auto& row : health.rows) {
    const auto [severity, meaning] = Meaning(row[0].text, row[1].text);
    const bool counts = row[2].text != "0";
    std::string words(meaning);
    if (!row[3].text.empty()) words += (words.empty() ? "" : ": ") + Printable(row[3].text);
    table.rows.push_back({Printable(row[0].text + "." + row[1].text), Printable(row[2].text),
                          std::string(counts ? severity : ""), std::move(words)});
  }
  return table.rows.empty() ? "    no counters: recording did not get that far\n"
                            : FormatTable(table, "    ");
}

// What the user chose: the environment and the options. The machine's own are in MachineText.
std::string ChosenText(const std::vector<Fact>& facts) {
  TableText table;
  for (const Fact& fact : facts) {
    if (fact.kind == "env" || fact.kind == "option")
      table.rows.push_back({Printable(fact.kind), Printable(fact.key), Printable(fact.value)});
  }
  return table.rows.empty() ? "" : "  facts\n" + FormatTable(table, "    ");
}

std::vector<Fact> FactsOf(const SqlRows& rows) {
  std::vector<Fact> facts;
  for (const auto& row : rows.rows)
    facts.push_back({row[0].text, row[1].text, row[2].text, row[3].text});
  return facts;
}

// Those of a process, which is in the last column.
SqlRows RowsOf(const SqlRows& all, const std::string& proc) {
  SqlRows of_process{all.columns, {}};
  for (const auto& row : all.rows) {
    if (row.back().text == proc) of_process.rows.push_back(row);
  }
  return of_process;
}

std::string AsText(const FileInfo& info) {
  std::string text = fmt::format("{}  ({})\n", info.path, FormatBytes(info.bytes));
  TableText meta;
  bool closed = false;
  for (const auto& row : info.meta.rows) {
    meta.rows.push_back({Printable(row[0].text), Printable(row[1].text)});
    if (row[0].text == "base_ns")
      meta.rows.back()[1] += "  " + FormatDate(std::strtoll(row[1].text.c_str(), nullptr, 10));
    closed = closed || (row[0].text == "closed" && row[1].text == "1");
  }
  text += FormatTable(meta, "    ");
  if (!closed)
    text +=
        "    not closed: the process was killed or is still running; the last second or two may be "
        "missing\n";
  for (std::size_t i = 0; i < info.processes.rows.size(); ++i)
    text += "  process\n" + Upright(info.processes, i);
  for (std::size_t i = 0; i < info.devices.rows.size(); ++i)
    text += "  device\n" + Upright(info.devices, i);
  text += "  rows of the tables\n" + TableSizes(info.tables);
  for (const auto& process : info.processes.rows) {
    const std::string& proc = process.front().text;
    const std::string whose = info.processes.rows.size() == 1 ? "" : " of process " + proc;
    const std::vector<Fact> facts = FactsOf(RowsOf(info.facts, proc));
    const std::string imported = ImportText(facts);
    text += "  health" + whose + "\n";
    text += imported.empty() ? HealthText(RowsOf(info.health, proc)) : imported;
    const std::string known = MachineText(facts) + ChosenText(facts);
    if (!whose.empty() && !known.empty()) text += "  facts" + whose + "\n";
    text += known;
  }
  return text;
}

std::string AsJson(const std::vector<FileInfo>& files) {
  std::string text = "[";
  for (const FileInfo& info : files) {
    text += fmt::format("{}\n{{\"path\": {}, \"bytes\": {}", text.size() > 1 ? "," : "",
                        JsonString(info.path), info.bytes);
    const std::pair<const char*, const SqlRows*> parts[] = {
        {"meta", &info.meta},     {"processes", &info.processes}, {"devices", &info.devices},
        {"tables", &info.tables}, {"health", &info.health},       {"facts", &info.facts}};
    for (const auto& [name, rows] : parts)
      text += fmt::format(",\n\"{}\": {}", name, FormatRowsAsJson(*rows));
    text += "}";
  }
  return text + "\n]\n";
}

}  // namespace

int RunInfo(const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  std::string format = "text", output = "-";
  CLI::App app("Shows what recordings contain, without reading the events.", kInfoProgram);
  app.footer(
      "Examples:\n"
      "  analyze info run.db                  one file, or run.rank*.db\n"
      "  analyze info results/ --format json  all recordings in a folder, as JSON\n");
  app.add_option("run", words, "recordings, as for analyze report")->required();
  app.add_option("--format", format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  AddOutput(app, output);
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  const auto paths = ResolveRunPaths(words);
  if (!paths.ok()) {
    fmt::print(stderr, "{}\n\n{}", paths.error(), MissingRunChecklist(words));
    return kUnreadable;
  }
  std::vector<FileInfo> files;
  bool all_read = true;
  for (const std::string& path : paths.value().files) {
    const Status looked = LookAt(path, files);
    if (looked.ok()) continue;
    fmt::print(stderr, "{}\n", looked.error());
    all_read = false;
  }
  std::string text;
  for (const FileInfo& info : files) text += (text.empty() ? "" : "\n") + AsText(info);
  const int written = WriteOrExplain(kInfoProgram, output, format == "json" ? AsJson(files) : text);
  return all_read ? written : kUnreadable;
}

}  // namespace traceinject
