// SPDX-License-Identifier: Apache-2.0
#include "analyzer/merge/insert_rows.h"

#include <fmt/format.h>

namespace traceinject {
namespace {

std::string InsertInto(std::string_view table, std::size_t columns, std::int64_t rows) {
  std::string row = "(";
  for (std::size_t i = 0; i < columns; ++i) row += i == 0 ? "?" : ",?";
  row += ")";
  std::string sql = fmt::format("INSERT OR IGNORE INTO {} VALUES", table);
  for (std::int64_t i = 0; i < rows; ++i) sql += i == 0 ? row : "," + row;
  return sql;
}

}  // namespace

Result<InsertRows> InsertRows::Into(const Database& database, std::string_view table,
                                    std::size_t columns, std::int64_t rows) {
  auto one = database.Prepare(InsertInto(table, columns, 1));
  if (!one.ok()) return Error{one.error()};
  InsertRows insert(database, columns, rows, std::move(one).value());
  auto many = database.Prepare(InsertInto(table, columns, kAtOnce));
  if (!many.ok()) return Error{many.error()};
  insert.many_.emplace(std::move(many).value());
  return insert;
}

Status InsertRows::Add() {
  const bool many = remaining_ % kAtOnce == 0;
  ++bound_;
  if (many && bound_ < static_cast<std::size_t>(kAtOnce)) return Done{};
  Statement& insert = statement();
  const auto done = insert.Step();
  insert.Reset();
  if (!done.ok()) return Error{done.error()};
  const auto rows = static_cast<std::int64_t>(bound_);
  const std::int64_t changed = sqlite3_changes(database_->handle());
  inserted_ += changed;
  left_out_ += rows - changed;
  remaining_ -= rows;
  bound_ = 0;
  return Done{};
}

}  // namespace traceinject
