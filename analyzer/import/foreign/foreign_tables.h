// SPDX-License-Identifier: Apache-2.0
// Which tables and columns another profiler's SQLite file has: some make a table for what was seen
// only, and their versions differ in columns.
#pragma once

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"

namespace traceinject {

class ForeignTables {
 public:
  // `writer`: what writes such files, as errors call it; a literal.
  static Result<ForeignTables> Find(const Database& database, std::string_view writer);

  bool Has(std::string_view table) const { return columns_.contains(table); }
  bool Has(std::string_view table, std::string_view column) const;

  // For a query: those of `columns` that the table has, and NULL in place of the others.
  std::string Select(std::string_view table, std::initializer_list<std::string_view> columns) const;

  // An error that names what is missing unless the table has all of `columns`.
  Status Expect(const std::string& path, std::string_view table,
                std::initializer_list<std::string_view> columns) const;

 private:
  std::string_view writer_;
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> columns_;  // by table
};

}  // namespace traceinject
