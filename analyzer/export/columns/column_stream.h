// SPDX-License-Identifier: Apache-2.0
// A table written column by column, for programs that read whole columns at once. docs/formats.md
// describes the layout.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/export/output_file.h"

namespace traceinject {

// Text is stored as int32 indices into the column's own list of texts.
enum class ColumnType : std::uint8_t { kInt32, kInt64, kDouble, kText };

// What stands for a value that is absent; of doubles NaN, of texts -1.
inline constexpr std::int32_t kNullInt32 = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int64_t kNullInt64 = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int32_t kNullText = -1;

struct Column {
  std::string name;
  ColumnType type = ColumnType::kInt64;
  bool nullable = false;                // a value may be absent
  std::vector<std::string> texts = {};  // kText: what the indices stand for
  bool constant = false;                // all rows have the same value, which is written once
  // Of events: the tables of a recording that its values come from, as ReadPart::tables has them.
  std::vector<std::string_view> tables = {};
  // As many values as the table has rows, unless constant.
  std::function<void(OutputFile&)> write_values = nullptr;
};

struct ColumnTable {
  std::string name;
  std::uint64_t rows = 0;
  std::vector<Column> columns;
};

void WriteColumns(const ColumnTable& table, OutputFile& file);

// Numbers texts from 0 in the order in which they come up.
class TextNumbers {
 public:
  std::int32_t Of(std::string_view text);
  // In order of their numbers; nothing is left here.
  std::vector<std::string> Take();

 private:
  std::unordered_map<std::string, std::int32_t> numbers_;
};

// Writes values one by one in large pieces.
template <typename T>
class ValueWriter {
 public:
  explicit ValueWriter(OutputFile& file) : file_(file) { values_.reserve(kValues); }
  ~ValueWriter() { Flush(); }
  ValueWriter(const ValueWriter&) = delete;
  ValueWriter& operator=(const ValueWriter&) = delete;

  void Add(T value) {
    values_.push_back(value);
    if (values_.size() == kValues) Flush();
  }

 private:
  static constexpr std::size_t kValues = 8192;
  void Flush() {
    file_.Write({reinterpret_cast<const char*>(values_.data()), values_.size() * sizeof(T)});
    values_.clear();
  }

  OutputFile& file_;
  std::vector<T> values_;
};

}  // namespace traceinject
