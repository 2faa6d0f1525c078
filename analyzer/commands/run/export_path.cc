// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/run/export_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/commands/run/run_commands.h"

namespace traceinject {
namespace {

constexpr CsvTable kExtensionsOfTables[] = {
    {"kernels", RunKernels, ""},
    {"gaps", RunGaps, ""},
    {"steps", RunSteps, ""},
    {"comm", RunComm, ""},
    {"nvtx", RunNvtx, ""},
    {"code", RunCode, ""},
    {"allocations", RunMemory, ""},
    {"memory", RunMemory, "--samples"},
    {"data", RunData, ""},
    {"loaders", RunData, "--loaders"},
    {"workers", RunData, "--workers"},
};

}  // namespace

std::string PathOfRank(const std::string& path, const Run& run, std::size_t rank) {
  const Rank& own = run.ranks[rank];
  const auto same = [&](const Rank& other) { return other.rank == own.rank; };
  const bool alone = own.rank && std::count_if(run.ranks.begin(), run.ranks.end(), same) == 1;
  const std::string label = alone ? fmt::format(".rank{:05}", *own.rank)
                                  : fmt::format(".pid{}.{}", own.process.pid, rank);
  const std::size_t folder = path.rfind('/');
  const std::size_t name = folder == std::string::npos ? 0 : folder + 1;
  std::size_t suffix = path.size();
  for (const std::string_view known : {".json.gz", ".json", ".gz"}) {
    if (path.ends_with(known) && path.size() - known.size() > name) {
      suffix = path.size() - known.size();
      break;
    }
  }
  return path.substr(0, suffix) + label + path.substr(suffix);
}

const CsvTable* FindCsvTable(std::string_view name) {
  for (const CsvTable& table : kExtensionsOfTables) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

std::string CsvTableNames() {
  std::string names;
  for (const CsvTable& table : kExtensionsOfTables) {
    if (!names.empty()) names += ", ";
    names += table.name;
  }
  return names;
}

}  // namespace traceinject
