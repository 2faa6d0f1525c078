// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/recording_targets.h"

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "analyzer/import/load/load_run.h"
#include "analyzer/report/formats/json.h"
#include "analyzer/report/text/text.h"
#include "analyzer/verdict/judged_report.h"
#include "tests/fuzz/bases.h"
#include "tests/fuzz/changed_database.h"
#include "tests/fuzz/changed_json.h"
#include "tests/fuzz/input_bytes.h"
#include "tests/fuzz/report_oracle.h"
#include "tests/fuzz/scratch_file.h"

namespace traceinject {
namespace {

std::string WrongRendering(const proto::Report& report) {
  std::string wrong;
  const Result<std::string> json = WriteJson(report);
  if (!json.ok()) wrong += json.error() + "\n";
  for (const bool full : {false, true}) wrong += WrongText(WriteText(report, {.full = full}));
  return wrong;
}

// A file that cannot be read is well, if the error says which one.
std::string WrongReading(const std::vector<std::string>& paths) {
  const Result<Run> run = LoadRun(paths, {.threads = 1, .on_progress = {}});
  if (!run.ok()) {
    for (const std::string& path : paths)
      if (run.error().find(path) != std::string::npos) return {};
    return "an error that names no file: " + run.error() + "\n";
  }
  ReportOptions options;
  options.gap_causes = options.memory = options.nvtx_ranges = options.device_samples =
      options.code = options.host_flames = options.last_stacks = true;
  const Report report = BuildReportWithVerdict(run.value(), options);
  return WrongReport(report) + WrongRendering(report);
}

// The file after what the input changes in the database; FUZZ_SHOW in the environment tells what.
std::string ChangedFile(const ChangedDatabase& database, InputBytes& input) {
  const std::vector<std::string> statements = database.Choose(input);
  if (std::getenv("FUZZ_SHOW") != nullptr)
    for (const std::string& statement : statements)
      std::fprintf(stderr, "%s;\n", statement.c_str());
  return database.After(statements);
}

}  // namespace

std::string FuzzRecording(std::string_view input) {
  static const ChangedDatabase host(ReadBase("host.db"));
  static const ChangedDatabase rank0(ReadBase("rank0.db"));
  static const ChangedDatabase rare(ReadBase("rare.db"));
  static const std::string rank1 = ReadBase("rank1.db");
  InputBytes bytes(input);
  switch (bytes.Below(4)) {
    case 0:
      return WrongReading({PutFile("run.db", ChangedFile(host, bytes))});
    case 1:
      return WrongReading({PutFile("run.db", ChangedFile(rank0, bytes))});
    case 3:
      return WrongReading({PutFile("run.db", ChangedFile(rare, bytes))});
    default:
      return WrongReading(
          {PutFile("run.rank0.db", ChangedFile(rank0, bytes)), PutFile("run.rank1.db", rank1)});
  }
}

std::string FuzzNsys(std::string_view input) {
  static const ChangedDatabase bases[] = {ChangedDatabase(ReadBase("host.sqlite")),
                                          ChangedDatabase(ReadBase("rank0.sqlite")),
                                          ChangedDatabase(ReadBase("rare.sqlite"))};
  InputBytes bytes(input);
  const ChangedDatabase& base = bases[bytes.Below(std::size(bases))];
  return WrongReading({PutFile("report.sqlite", ChangedFile(base, bytes))});
}

std::string FuzzRpd(std::string_view input) {
  static const ChangedDatabase host(ReadBase("host_trace.rpd"));
  static const ChangedDatabase rank0(ReadBase("rank0_trace.rpd"));
  InputBytes bytes(input);
  const bool of_host = bytes.Below(2) == 0;
  return WrongReading({PutFile("trace.rpd", ChangedFile(of_host ? host : rank0, bytes))});
}

std::string FuzzKineto(std::string_view input) {
  static const ChangedJson bases[] = {ChangedJson(ReadBase("host_trace.json")),
                                      ChangedJson(ReadBase("rank0_trace.json")),
                                      ChangedJson(ReadBase("rare_trace.json"))};
  InputBytes bytes(input);
  const ChangedJson& base = bases[bytes.Below(std::size(bases))];
  return WrongReading({PutFile("trace.json", base.Choose(bytes))});
}

std::string FuzzFile(std::string_view input) {
  // The name tells how what is packed is read.
  static constexpr const char* kNames[] = {"run.db", "run.db.zst", "trace.json", "trace.json.gz"};
  InputBytes bytes(input);
  const char* name = kNames[bytes.Below(std::size(kNames))];
  return WrongReading({PutFile(name, bytes.Rest())});
}

}  // namespace traceinject
