// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/rpd/rpd_sqlite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/common/units.h"
#include "analyzer/import/rpd/rpd_calls.h"
#include "analyzer/import/rpd/rpd_operations.h"
#include "analyzer/import/rpd/rpd_reader.h"
#include "analyzer/import/source/trace_source.h"

namespace traceinject {
namespace {

constexpr std::string_view kWriter = "rocmProfileData";
// In every trace.
constexpr std::array<std::string_view, 4> kRpdMarks = {"rocpd_op", "rocpd_api", "rocpd_api_ops",
                                                       "rocpd_string"};
// Where most rows are.
constexpr std::array<std::string_view, 7> kLongRpdTables = {
    "rocpd_op",      "rocpd_api",     "rocpd_api_ops", "rocpd_kernelapi",
    "rocpd_copyapi", "rocpd_ustring", "rocpd_string"};

// What is referred to before what refers to it.
Status ReadRpdEvents(RpdReader& reader, std::int64_t& unsized_copies) {
  Status status = reader.CountRowsOf(kLongRpdTables);
  if (status.ok()) status = reader.ReadBasics();
  if (status.ok()) status = ReadRpdCalls(reader);
  if (status.ok()) status = ReadRpdOperations(reader, unsized_copies);
  return status;
}

// Whether the file holds processes of several machines.
bool HasNodes(RpdReader& reader) {
  return std::any_of(reader.processes().begin(), reader.processes().end(), [&](const auto& each) {
    return reader.NodeOfPid(static_cast<std::int64_t>(each.first)) > 0;
  });
}

}  // namespace

bool IsRpd(const Database& database) {
  const auto tables = ForeignTables::Find(database, kWriter);
  return tables.ok() && std::all_of(kRpdMarks.begin(), kRpdMarks.end(), [&](std::string_view mark) {
           return tables.value().Has(mark);
         });
}

Result<RecordedFile> ReadRpd(const Database& database, ReadProgress& progress, Repairs repairs) {
  const auto tables = ForeignTables::Find(database, kWriter);
  if (!tables.ok()) return Error{tables.error()};
  RpdReader reader(database, progress, tables.value());
  std::int64_t unsized_copies = 0;
  if (const Status read = ReadRpdEvents(reader, unsized_copies); !read.ok())
    return Error{read.error()};
  RecordedFile file;
  file.base_ns = reader.base();
  const bool has_nodes = HasNodes(reader);
  reader.MakeRanks(
      kRpdSource.what, repairs,
      [&](std::uint64_t process, Rank& rank) {
        if (has_nodes)
          rank.process.host =
              fmt::format("node {}", reader.NodeOfPid(static_cast<std::int64_t>(process)));
      },
      file);
  if (file.ranks.empty())
    return Error{
        fmt::format("{}: the trace contains no GPU operation: make sure that the traced time "
                    "includes GPU work",
                    database.path())};
  if (unsized_copies > 0)
    file.notes.push_back(fmt::format("{}: {} cop{} of which no size is told: counted as 0 bytes",
                                     database.path(), FormatCount(unsized_copies),
                                     unsized_copies == 1 ? "y" : "ies"));
  return file;
}

}  // namespace traceinject
