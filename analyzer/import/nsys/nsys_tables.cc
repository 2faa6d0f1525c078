// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/nsys/nsys_tables.h"

#include <algorithm>
#include <array>

namespace traceinject {
namespace {

// One of them is in every export.
constexpr std::array<std::string_view, 8> kMarks = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                                    "CUPTI_ACTIVITY_KIND_MEMCPY",
                                                    "CUPTI_ACTIVITY_KIND_MEMSET",
                                                    "CUPTI_ACTIVITY_KIND_RUNTIME",
                                                    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                                    "NVTX_EVENTS",
                                                    "META_DATA_EXPORT",
                                                    "TARGET_INFO_SESSION_START_TIME"};

}  // namespace

Result<ForeignTables> FindNsysTables(const Database& database) {
  return ForeignTables::Find(database, "nsys export --type sqlite");
}

bool IsNsysExport(const Database& database) {
  const auto tables = FindNsysTables(database);
  return tables.ok() && std::any_of(kMarks.begin(), kMarks.end(), [&](std::string_view mark) {
           return tables.value().Has(mark);
         });
}

}  // namespace traceinject
