// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/nsys/nsys_sqlite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/import/finish/find_loaders_and_steps.h"
#include "analyzer/import/finish/finish_rank.h"
#include "analyzer/import/nsys/nsys_calls.h"
#include "analyzer/import/nsys/nsys_facts.h"
#include "analyzer/import/nsys/nsys_operations.h"
#include "analyzer/import/nsys/nsys_ranges.h"
#include "analyzer/import/nsys/nsys_reader.h"
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
  std::vector<std::string_view> there;
  for (const std::string_view table : kLongTables) {
    if (reader.rows().tables().Has(table)) there.push_back(table);
  }
  Status status = reader.rows().CountRows(there);
  if (status.ok()) status = reader.ReadStrings();
  if (status.ok()) status = ReadNsysCalls(reader);
  if (status.ok()) status = ReadNsysOperations(reader, whole_graphs);
  if (status.ok()) status = ReadNsysCallDetails(reader);
  if (status.ok()) status = ReadNsysRanges(reader);
  return status;
}

bool HasOperations(const Rank& rank) {
  return std::any_of(rank.devices.begin(), rank.devices.end(),
                     [](const Device& device) { return device.ops.size() > 0; });
}

}  // namespace

Result<RecordedFile> ReadNsysSqlite(const Database& database, ReadProgress& progress,
                                    Repairs repairs) {
  const auto tables = NsysTables::Find(database);
  if (!tables.ok()) return Error{tables.error()};
  NsysReader reader(database, progress, tables.value());
  std::int64_t whole_graphs = 0;
  if (const Status read = ReadEvents(reader, whole_graphs); !read.ok()) return Error{read.error()};
  RecordedFile file;
  NsysFacts facts(reader.rows(), reader.strings());
  if (const Status read = facts.Read(); !read.ok()) return Error{read.error()};
  if (progress.stop) return Stopped(database.path());
  file.base_ns = facts.base_ns();
  std::int64_t idle = 0;
  for (auto& [key, process] : reader.processes()) {
    if (!HasOperations(process->rank())) {
      ++idle;
      continue;
    }
    Rank& rank = file.ranks.emplace_back(std::move(process->rank()));
    rank.path = database.path();
    facts.Describe(key, rank);
    rank.imported_from = kNsysSource.what;
    rank.closed = true;
    FindLoadersAndSteps(rank);
    if (repairs == Repairs::kDone) FinishRank(rank);
  }
  if (file.ranks.empty())
    return Error{
        fmt::format("{}: the export contains no GPU operation: profile with nsys profile "
                    "--trace=cuda,nvtx, and make sure the recorded time includes GPU work",
                    database.path())};
  file.notes = reader.rows().Notes();
  if (whole_graphs > 0)
    file.notes.push_back(
        fmt::format("{}: {} CUDA graph launches were traced as a whole: the kernels in them are "
                    "not known. Profile with --cuda-graph-trace=node",
                    database.path(), FormatCount(whole_graphs)));
  if (idle > 0)
    file.notes.push_back(fmt::format("{}: {} process{} without GPU operations left out",
                                     database.path(), idle, idle == 1 ? "" : "es"));
  return file;
}

}  // namespace traceinject
