// SPDX-License-Identifier: Apache-2.0
// Names that analyze export takes and makes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// The output of one rank where each has a file of its own: trace.rank00003.json.gz of
// trace.json.gz; of processes without a rank, or with that of another, .pid4711 and a number.
std::string PathOfRank(const std::string& path, const Run& run, std::size_t rank);

// A table that a command prints in full.
struct CsvTable {
  std::string_view name;
  int (*run)(const std::vector<std::string>& arguments);
  const char* flag;  // "": none
};
// Null: there is none of that name.
const CsvTable* FindCsvTable(std::string_view name);
// "kernels, gaps, ...".
std::string CsvTableNames();

}  // namespace traceinject
