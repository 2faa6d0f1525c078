// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/nsys/nsys_sqlite.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "analyzer/common/units.h"
#include "analyzer/import/nsys/nsys_calls.h"
#include "analyzer/import/nsys/nsys_facts.h"
#include "analyzer/import/nsys/nsys_operations.h"
#include "analyzer/import/nsys/nsys_ranges.h"
#include "analyzer/import/nsys/nsys_reader.h"
#include "analyzer/import/nsys/nsys_tables.h"
#include "analyzer/import/source/trace_source.h"

namespace traceinject {
namespace {

// Where most rows are.
constexpr std::array<std::string_view, 9> kLongTables = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                                         "CUPTI_ACTIVITY_KIND_MEMCPY",
                                                         "CUPTI_ACTIVITY_KIND_MEMSET",
                                                         "CUPTI_ACTIVITY_KIND_RUNTIME",
                                                         "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                                         "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                                         "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                                                         "NVTX_EVENTS",
                                                         "StringIds"};

// What is referred to before what refers to it.
Status ReadEvents(NsysReader& reader, std::int64_t& whole_graphs) {
  Status status = reader.CountRowsOf(kLongTables);
  if (status.ok()) status = reader.ReadStrings();
  if (status.ok()) status = ReadNsysCalls(reader);
  if (status.ok()) status = ReadNsysOperations(reader, whole_graphs);
  if (status.ok()) status = ReadNsysCallDetails(reader);
  if (status.ok()) status = ReadNsysRanges(reader);
  return status;
}

}  // namespace

Result<RecordedFile> ReadNsysSqlite(const Database& database, ReadProgress& progress,
                                    Repairs repairs) {
  const auto tables = FindNsysTables(database);
  if (!tables.ok()) return Error{tables.error()};
  NsysReader reader(database, progress, tables.value());
  std::int64_t whole_graphs = 0;
  if (const Status read = ReadEvents(reader, whole_graphs); !read.ok()) return Error{read.error()};
  RecordedFile file;
  NsysFacts facts(reader.rows(), reader.strings());
  if (const Status read = facts.Read(); !read.ok()) return Error{read.error()};
  if (progress.stop) return Stopped(database.path());
  file.base_ns = facts.base_ns();
  reader.MakeRanks(
      kNsysSource.what, repairs,
      [&](std::uint64_t process, Rank& rank) { facts.Describe(process, rank); }, file);
  if (file.ranks.empty())
    return Error{
        fmt::format("{}: the export contains no GPU operation: profile with nsys profile "
                    "--trace=cuda,nvtx, and make sure the recorded time includes GPU work",
                    database.path())};
  if (whole_graphs > 0)
    file.notes.push_back(
        fmt::format("{}: {} CUDA graph launches were traced as a whole: the kernels in them are "
                    "not known. Profile with --cuda-graph-trace=node",
                    database.path(), FormatCount(whole_graphs)));
  return file;
}

}  // namespace traceinject
