// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/changed_database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstring>
#include <memory>
#include <stdexcept>

namespace traceinject {
namespace {

struct CloseConnection {
  void operator()(sqlite3* connection) const { sqlite3_close(connection); }
};
using Connection = std::unique_ptr<sqlite3, CloseConnection>;

// In memory, from the bytes of a file.
Connection OpenImage(const std::string& image) {
  sqlite3* opened = nullptr;
  if (sqlite3_open(":memory:", &opened) != SQLITE_OK) throw std::runtime_error("no memory");
  Connection connection(opened);
  auto* bytes = static_cast<unsigned char*>(sqlite3_malloc64(image.size()));
  std::memcpy(bytes, image.data(), image.size());
  const auto size = static_cast<sqlite3_int64>(image.size());
  if (sqlite3_deserialize(opened, "main", bytes, size, size,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) !=
      SQLITE_OK)
    throw std::runtime_error("not a database");
  return connection;
}

// The first column of all rows.
std::vector<std::string> Query(sqlite3* connection, const std::string& sql) {
  std::vector<std::string> values;
  const auto add = [](void* to, int, char** row, char**) {
    static_cast<std::vector<std::string>*>(to)->emplace_back(row[0] != nullptr ? row[0] : "");
    return 0;
  };
  if (sqlite3_exec(connection, sql.c_str(), add, &values, nullptr) != SQLITE_OK)
    throw std::runtime_error(sqlite3_errmsg(connection));
  return values;
}

// A value as SQL; `column` stands for the one that is there. What follows these is the input's own
// number.
std::string ChooseValue(InputBytes& input, const std::string& column) {
  static constexpr const char* kValues[] = {"NULL",
                                            "0",
                                            "1",
                                            "-1",
                                            "9223372036854775807",
                                            "-9223372036854775808",
                                            "4611686018427387904",
                                            "-4611686018427387904",
                                            "4294967295",
                                            "2147483648",
                                            "-2147483649",
                                            "1e300",
                                            "9e999",
                                            "-0.5",
                                            "''",
                                            "'soon'",
                                            "x'ff00fe'",
                                            "CAST(x'c3281b5b33316d80' AS TEXT)",
                                            "printf('%.*c', 3000, 'x')"};
  static constexpr std::size_t kCount = std::size(kValues);
  const std::size_t choice = input.Below(kCount + 9);
  if (choice < kCount) return kValues[choice];
  switch (choice - kCount) {
    case 0:
      return fmt::format("-{}", column);
    case 1:
      return fmt::format("{} * 2", column);
    case 2:
      return fmt::format("{} + {}", column, static_cast<std::int16_t>(input.Number(2)));
    case 3:
      return fmt::format("{} + {}", column, static_cast<std::int32_t>(input.Number(4)));
    case 4:
      return fmt::format("{} - {}", column, input.Number(5));
    case 5:
      return fmt::format("{}", input.Number(1));
    case 6:
      return fmt::format("{}", static_cast<std::int32_t>(input.Number(4)));
    case 7:
      return fmt::format("{}", static_cast<std::int64_t>(input.Number(8)));
    default:
      return fmt::format("rowid * {}", input.Number(4));
  }
}

}  // namespace

ChangedDatabase::ChangedDatabase(std::string image) : image_(std::move(image)) {
  const Connection connection = OpenImage(image_);
  for (const std::string& name : Query(
           connection.get(), "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")) {
    Table table;
    table.name = name;
    table.columns =
        Query(connection.get(),
              fmt::format("SELECT '\"' || name || '\"' FROM pragma_table_info('{}')", name));
    table.rows = std::stoul(
        Query(connection.get(), fmt::format("SELECT count(*) FROM \"{}\"", name)).front());
    if (table.rows > 0) tables_.push_back(std::move(table));
  }
}

std::string ChangedDatabase::ChooseOne(InputBytes& input) const {
  const std::uint8_t kind = input.Byte() % 16;
  if (kind == 15) return fmt::format("PRAGMA user_version = {}", input.Byte() % 12);
  const Table& table = tables_[input.Below(tables_.size())];
  const std::size_t row = 1 + input.Below(table.rows);
  const std::string& column = table.columns[input.Below(table.columns.size())];
  switch (kind) {
    case 14:
      return fmt::format("DELETE FROM \"{}\" WHERE rowid = {}", table.name, row);
    case 13:
      return fmt::format("DELETE FROM \"{}\" WHERE rowid >= {}", table.name, row);
    case 12:
      return fmt::format("INSERT INTO \"{0}\" SELECT * FROM \"{0}\" WHERE rowid = {1}", table.name,
                         row);
    case 11:
      return fmt::format("UPDATE \"{0}\" SET {1} = (SELECT {1} FROM \"{0}\" WHERE rowid = {2})",
                         table.name, column, row);
    case 10:
      return fmt::format(
          "UPDATE \"{0}\" SET {1} = (SELECT {1} FROM \"{0}\" WHERE rowid = {2}) WHERE rowid = {3}",
          table.name, column, row, 1 + input.Below(table.rows));
    case 9:
      return fmt::format("DELETE FROM \"{}\" WHERE rowid < {}", table.name, row);
    case 8:
    case 7:
      return fmt::format("UPDATE \"{}\" SET {} = {} WHERE rowid >= {}", table.name, column,
                         ChooseValue(input, column), row);
    default:
      return fmt::format("UPDATE \"{}\" SET {} = {} WHERE rowid = {}", table.name, column,
                         ChooseValue(input, column), row);
  }
}

std::vector<std::string> ChangedDatabase::Choose(InputBytes& input) const {
  std::vector<std::string> statements;
  while (!input.is_empty() && statements.size() < kMostChanges)
    statements.push_back(ChooseOne(input));
  return statements;
}

std::string ChangedDatabase::After(const std::vector<std::string>& statements) const {
  const Connection connection = OpenImage(image_);
  sqlite3_exec(connection.get(), "BEGIN", nullptr, nullptr, nullptr);
  for (const std::string& statement : statements)
    sqlite3_exec(connection.get(), statement.c_str(), nullptr, nullptr, nullptr);
  sqlite3_exec(connection.get(), "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, void (*)(void*)> bytes(
      sqlite3_serialize(connection.get(), "main", &size, 0), sqlite3_free);
  if (bytes == nullptr) throw std::runtime_error("no memory");
  return {reinterpret_cast<const char*>(bytes.get()), static_cast<std::size_t>(size)};
}

}  // namespace traceinject
