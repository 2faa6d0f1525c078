// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/sqlite.h"

#include <fmt/format.h>

#include <exception>
#include <limits>
#include <utility>

#include "analyzer/common/printable.h"

namespace traceinject {

// Lives as long as Statement::ForEachRow.
struct RowVisitor {
  const std::function<bool(const SqlRow&)>& visit;
  bool stopped = false;
  std::exception_ptr thrown = nullptr;
};

namespace {

// visit_row(column, ...): an aggregate without a result, which hands the row to the connection's
// visitor. Nothing may be thrown through SQLite.
void VisitRow(sqlite3_context* context, int, sqlite3_value** values) {
  RowVisitor* const visitor = *static_cast<RowVisitor**>(sqlite3_user_data(context));
  if (visitor == nullptr)
    return sqlite3_result_error(context, "visit_row() is used by this program only", -1);
  try {
    if (visitor->visit(SqlRow(values))) return;
    visitor->stopped = true;
  } catch (...) {
    visitor->thrown = std::current_exception();
  }
  sqlite3_result_error(context, "stopped", -1);
}

void NoResult(sqlite3_context*) {}

std::string_view TextOf(const unsigned char* bytes, int count) {
  if (bytes == nullptr) return {};
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count)};
}

int Saturated(std::int64_t value) {
  if (value > std::numeric_limits<int>::max()) return std::numeric_limits<int>::max();
  if (value < std::numeric_limits<int>::min()) return std::numeric_limits<int>::min();
  return static_cast<int>(value);
}

}  // namespace

std::string SqliteError(const std::string& path, int extended_code, std::string_view reason) {
  // It quotes what a damaged file holds.
  const std::string message = Printable(reason);
  switch (extended_code & 0xff) {
    case SQLITE_NOTADB:
      return fmt::format(
          "{}: not an SQLite database. Expected a run.db written by libtraceinject.so.", path);
    case SQLITE_CORRUPT:
      return fmt::format(
          "{}: the database is damaged ({}). If you copied it, copy it again from where it was "
          "recorded, together with its -wal file if there is one.",
          path, message);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return fmt::format("{}: cannot open ({}). Check that the file exists and is readable.", path,
                         message);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fmt::format(
          "{}: locked by another process ({}). Try again when that process has ended.", path,
          message);
    case SQLITE_IOERR:
      return fmt::format("{}: read failed ({}). Check the disk or network file system it is on.",
                         path, message);
    case SQLITE_NOMEM:
      return fmt::format("{}: not enough memory to read it.", path);
    default:
      return fmt::format("{}: {}", path, message);
  }
}

std::string_view SqlRow::text(int column) const {
  if (is_set_null(column) || numbers_ != nullptr) return {};
  const auto* bytes = sqlite3_value_text(values_[column]);
  return TextOf(bytes, sqlite3_value_bytes(values_[column]));
}

std::string_view SqlRow::blob(int column) const {
  if (is_set_null(column) || numbers_ != nullptr) return {};
  const auto* bytes = static_cast<const char*>(sqlite3_value_blob(values_[column]));
  const int size = sqlite3_value_bytes(values_[column]);
  return bytes == nullptr ? std::string_view()
                          : std::string_view(bytes, static_cast<std::size_t>(size));
}

std::optional<int> SqlRow::optional_int(int column) const {
  if (is_null(column)) return std::nullopt;
  return Saturated(int64(column));
}

std::optional<std::int64_t> SqlRow::optional_int64(int column) const {
  if (is_null(column)) return std::nullopt;
  return int64(column);
}

Result<bool> Statement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3* handle = sqlite3_db_handle(statement_.get());
  return Error{SqliteError(path_, sqlite3_extended_errcode(handle), sqlite3_errmsg(handle))};
}

void Statement::Reset() { sqlite3_reset(statement_.get()); }

Status Statement::ForEachRow(const std::function<bool(const SqlRow&)>& visit) {
  RowVisitor visitor{visit};
  // A visitor may read other rows meanwhile.
  RowVisitor* const outer = std::exchange(*visitor_, &visitor);
  const Result<bool> row = Step();
  Reset();
  *visitor_ = outer;
  if (visitor.thrown) std::rethrow_exception(visitor.thrown);
  if (!row.ok() && !visitor.stopped) return Error{row.error()};
  return Done{};
}

std::string_view Statement::column_name(int column) const {
  const char* name = sqlite3_column_name(statement_.get(), column);
  return name != nullptr ? std::string_view(name) : std::string_view();
}

std::string_view Statement::text(int column) const {
  const auto* bytes = sqlite3_column_text(statement_.get(), column);
  return TextOf(bytes, sqlite3_column_bytes(statement_.get(), column));
}

std::optional<int> Statement::optional_int(int column) const {
  if (is_null(column)) return std::nullopt;
  return Saturated(int64(column));
}

std::optional<std::int64_t> Statement::optional_int64(int column) const {
  if (is_null(column)) return std::nullopt;
  return int64(column);
}

void Statement::Bind(int parameter, std::string_view value) {
  sqlite3_bind_text64(statement_.get(), parameter, value.data(), value.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
}

Result<Database> Database::Open(const std::string& uri_or_path, int flags, const char* vfs,
                                std::string path) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(uri_or_path.c_str(), &handle, flags, vfs);
  Database database(handle, std::move(path));
  if (code != SQLITE_OK) {
    const char* message = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
    return Error{SqliteError(database.path_, code, message)};
  }
  sqlite3_extended_result_codes(handle, 1);
  const int added =
      sqlite3_create_function_v2(handle, "visit_row", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                 database.visitor_.get(), nullptr, VisitRow, NoResult, nullptr);
  if (added != SQLITE_OK) return Error{SqliteError(database.path_, added, sqlite3_errstr(added))};
  return database;
}

Result<Statement> Database::Prepare(std::string_view sql, std::string_view* tail) const {
  sqlite3_stmt* statement = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, &rest);
  if (code != SQLITE_OK) {
    return Error{
        SqliteError(path_, sqlite3_extended_errcode(handle_.get()), sqlite3_errmsg(handle_.get()))};
  }
  if (tail != nullptr) *tail = sql.substr(static_cast<std::size_t>(rest - sql.data()));
  if (statement == nullptr)
    return Error{fmt::format("{}: the SQL text contains no statement", path_)};
  return Statement(statement, visitor_.get(), path_);
}

Result<Statement> Database::PrepareRows(std::string_view columns, std::string_view from) const {
  return Prepare(fmt::format("SELECT visit_row({}) FROM {}", columns, from));
}

Status Database::Execute(const std::string& sql) const {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return Error{
        SqliteError(path_, sqlite3_extended_errcode(handle_.get()), sqlite3_errmsg(handle_.get()))};
  }
  return Done{};
}

}  // namespace traceinject
