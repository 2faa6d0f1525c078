// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/columns/column_stream.h"

#include <fmt/format.h>

#include <bit>

#include "analyzer/common/json_text.h"

namespace traceinject {
namespace {

static_assert(std::endian::native == std::endian::little, "values are written as they are");

constexpr std::string_view kSignature = "TRJCOLS1";
constexpr std::size_t kAlignment = 8;

struct TypeFacts {
  std::string_view name;
  std::uint64_t bytes;  // of a value
};
TypeFacts FactsOf(ColumnType type) {
  switch (type) {
    case ColumnType::kInt32:
      return {"int32", sizeof(std::int32_t)};
    case ColumnType::kInt64:
      return {"int64", sizeof(std::int64_t)};
    case ColumnType::kDouble:
      return {"double", sizeof(double)};
    case ColumnType::kText:
      break;
  }
  return {"text", sizeof(std::int32_t)};
}

std::string HeaderOf(const ColumnTable& table) {
  std::string text = fmt::format("{{\"table\": {}, \"rows\": {}, \"columns\": [",
                                 JsonString(table.name), table.rows);
  for (const Column& column : table.columns) {
    text += fmt::format(
        "{}{{\"name\": {}, \"type\": \"{}\", \"nullable\": {}, "
        "\"constant\": {}",
        &column == table.columns.data() ? "" : ", ", JsonString(column.name),
        FactsOf(column.type).name, column.nullable, column.constant);
    if (column.type == ColumnType::kText) {
      text += ", \"texts\": [";
      for (const std::string& one : column.texts)
        text += (&one == column.texts.data() ? "" : ", ") + JsonString(one);
      text += "]";
    }
    text += "}";
  }
  text += "]}";
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

}  // namespace

void WriteColumns(const ColumnTable& table, OutputFile& file) {
  const std::string header = HeaderOf(table);
  const std::uint64_t length = header.size();
  file.Write(kSignature);
  file.Write({reinterpret_cast<const char*>(&length), sizeof(length)});
  file.Write(header);
  for (const Column& column : table.columns) {
    column.write_values(file);
    const std::uint64_t written = (column.constant ? 1 : table.rows) * FactsOf(column.type).bytes;
    file.Write(
        std::string_view("\0\0\0\0\0\0\0", (kAlignment - written % kAlignment) % kAlignment));
  }
}

std::int32_t TextNumbers::Of(std::string_view text) {
  return numbers_.emplace(text, static_cast<std::int32_t>(numbers_.size())).first->second;
}

std::vector<std::string> TextNumbers::Take() {
  std::vector<std::string> texts(numbers_.size());
  while (!numbers_.empty()) {
    auto node = numbers_.extract(numbers_.begin());
    texts[static_cast<std::size_t>(node.mapped())] = std::move(node.key());
  }
  return texts;
}

}  // namespace traceinject
