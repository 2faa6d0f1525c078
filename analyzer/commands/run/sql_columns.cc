// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/run/sql_columns.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <utility>

namespace traceinject {

// The values of one column, kept in the narrowest type so far.
class SqlColumns::Values {
 public:
  explicit Values(std::string name) : name_(std::move(name)) {}

  void Add(const Statement& row, int column) {
    switch (row.type(column)) {
      case SQLITE_NULL:
        return AddNull();
      case SQLITE_INTEGER:
        return AddInteger(row.int64(column));
      case SQLITE_FLOAT:
        return AddReal(row.real(column));
      default:
        AddText(CellOf(row, column).text);
    }
  }

  void Add(const SqlCell& cell) {
    if (cell.kind == SqlCell::Kind::kNumber)
      return AddInteger(std::strtoll(cell.text.c_str(), nullptr, 10));
    AddText(cell.text);
  }

  // What writes the values shares them.
  static Column Take(std::shared_ptr<Values> values) {
    Column column = {values->name_, values->type_, values->nullable_, values->numbers_.Take()};
    column.write_values = [values = std::move(values)](OutputFile& file) {
      if (values->type_ == ColumnType::kInt64) return Write(values->integers_, file);
      if (values->type_ == ColumnType::kDouble) return Write(values->reals_, file);
      Write(values->texts_, file);
    };
    return column;
  }

 private:
  static constexpr double kNullReal = std::numeric_limits<double>::quiet_NaN();

  template <typename T>
  static void Write(const std::vector<T>& values, OutputFile& file) {
    file.Write({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }

  void AddNull() {
    nullable_ = true;
    if (type_ == ColumnType::kInt64) return integers_.push_back(kNullInt64);
    if (type_ == ColumnType::kDouble) return reals_.push_back(kNullReal);
    texts_.push_back(kNullText);
  }

  void AddInteger(std::int64_t value) {
    if (type_ == ColumnType::kInt64) return integers_.push_back(value);
    if (type_ == ColumnType::kDouble) return reals_.push_back(static_cast<double>(value));
    texts_.push_back(numbers_.Of(fmt::format("{}", value)));
  }

  void AddReal(double value) {
    if (type_ == ColumnType::kInt64) BecomeReal();
    if (type_ == ColumnType::kDouble) return reals_.push_back(value);
    texts_.push_back(numbers_.Of(fmt::format("{}", value)));
  }

  void AddText(std::string_view value) {
    BecomeText();
    texts_.push_back(numbers_.Of(value));
  }

  void BecomeReal() {
    for (const std::int64_t value : std::exchange(integers_, {}))
      reals_.push_back(value == kNullInt64 ? kNullReal : static_cast<double>(value));
    type_ = ColumnType::kDouble;
  }

  void BecomeText() {
    for (const std::int64_t value : std::exchange(integers_, {}))
      texts_.push_back(value == kNullInt64 ? kNullText : numbers_.Of(fmt::format("{}", value)));
    for (const double value : std::exchange(reals_, {}))
      texts_.push_back(value != value ? kNullText : numbers_.Of(fmt::format("{}", value)));
    type_ = ColumnType::kText;
  }

  std::string name_;
  ColumnType type_ = ColumnType::kInt64;
  bool nullable_ = false;
  // One of these has the values.
  std::vector<std::int64_t> integers_;
  std::vector<double> reals_;
  std::vector<std::int32_t> texts_;
  TextNumbers numbers_;
};

SqlColumns::SqlColumns() = default;
SqlColumns::~SqlColumns() = default;

Status SqlColumns::Add(const Database& database, std::string_view sql,
                       const std::optional<SqlCell>& rank) {
  auto statement = PrepareQuery(database, sql);
  if (!statement.ok()) return Error{statement.error()};
  Statement& row = statement.value();
  const std::size_t first = rank ? 1 : 0, count = first + static_cast<std::size_t>(row.columns());
  if (columns_.empty()) {
    if (rank) columns_.push_back(std::make_unique<Values>("rank"));
    for (int column = 0; column < row.columns(); ++column)
      columns_.push_back(std::make_unique<Values>(std::string(row.column_name(column))));
  }
  if (columns_.size() != count) return Error{fmt::format("{}: {}", database.path(), kOtherColumns)};
  for (;;) {
    const auto more = row.Step();
    if (!more.ok()) return Error{more.error()};
    if (!more.value()) return Done{};
    if (rank) columns_.front()->Add(*rank);
    for (int column = 0; column < row.columns(); ++column)
      columns_[first + static_cast<std::size_t>(column)]->Add(row, column);
    ++rows_;
  }
}

ColumnTable SqlColumns::Take(std::string name) {
  ColumnTable table{std::move(name), rows_, {}};
  for (auto& column : columns_) table.columns.push_back(Values::Take(std::move(column)));
  return table;
}

}  // namespace traceinject
