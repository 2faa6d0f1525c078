// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/attribute_reader.h"

#include <array>
#include <cstring>

#include "injector/stacks/frame_walk.h"

namespace traceinject {

std::uint64_t AttributeReader::Type(std::uint64_t object) const {
  std::uint64_t type = 0;
  if (!IsPlausibleAddress(object) || !memory_.Read(object + layout_.object_type, &type)) return 0;
  return IsPlausibleAddress(type) ? type : 0;
}

std::string AttributeReader::TypeName(std::uint64_t type) const {
  std::array<char, 128> text{};
  std::uint64_t name = 0;
  if (type == 0 || !memory_.Read(type + layout_.type_name, &name)) return {};
  const std::size_t there = memory_.ReadUpTo(name, text.data(), text.size() - 1);
  return {text.data(), strnlen(text.data(), there)};
}

std::string AttributeReader::Text(std::uint64_t text) const {
  if (!IsPlausibleAddress(text)) return {};
  return ReadText(memory_, layout_, types_, text).value_or(std::string());
}

std::optional<AttributeReader::Table> AttributeReader::TableOfDict(std::uint64_t dict) const {
  Table table;
  if (!IsPlausibleAddress(dict) || !memory_.Read(dict + layout_.dict_keys, &table.keys) ||
      !memory_.Read(dict + layout_.dict_values, &table.values))
    return std::nullopt;
  if (table.values != 0) table.values += layout_.values_begin;
  return table;
}

// Since 3.11 attributes are values beside the object, whose keys are in its type, until somebody
// asks for the dict itself.
std::optional<AttributeReader::Table> AttributeReader::ManagedTable(std::uint64_t object,
                                                                    std::uint64_t type) const {
  constexpr std::uint64_t kDictBefore = 24, kValuesBefore = 32, kIsValues = 1;
  std::uint64_t word = 0;
  Table table;
  if (!memory_.Read(object - kDictBefore, &word) ||
      !memory_.Read(type + layout_.type_keys, &table.keys))
    return std::nullopt;
  const bool is_values = layout_.minor == 12 && (word & kIsValues) != 0;
  if (word != 0 && !is_values) return TableOfDict(word);
  if (is_values) {
    table.values = word + kIsValues;
  } else if (layout_.minor == 11) {
    if (!memory_.Read(object - kValuesBefore, &table.values)) return std::nullopt;
  } else if (layout_.minor >= 13) {
    std::uint64_t size = 0;
    if (!memory_.Read(type + layout_.type_size, &size)) return std::nullopt;
    table.values = object + size + layout_.values_begin;
  }
  return table.values == 0 ? std::nullopt : std::optional(table);
}

std::optional<AttributeReader::Table> AttributeReader::TableOfObject(std::uint64_t object) const {
  constexpr std::int64_t kLargest = 1 << 16;
  const std::uint64_t type = Type(object);
  std::int64_t offset = 0;
  if (type == 0 || !memory_.Read(type + layout_.type_dict_offset, &offset)) return std::nullopt;
  if (offset > 0 && offset < kLargest) {
    std::uint64_t dict = 0;
    if (!memory_.Read(object + static_cast<std::uint64_t>(offset), &dict)) return std::nullopt;
    return TableOfDict(dict);
  }
  // Since 3.11 a negative one says that the interpreter manages the dict.
  if (offset >= 0 || layout_.type_keys == PythonLayout::kNone) return std::nullopt;
  return ManagedTable(object, type);
}

// PyDictKeysObject: a header, indices, then entries, of which only `count` were ever used.
std::optional<AttributeReader::Keys> AttributeReader::ReadKeys(std::uint64_t keys) const {
  constexpr std::uint64_t kWithHash = 24, kWithoutHash = 16;
  std::array<char, 40> head;
  if (!IsPlausibleAddress(keys) || !memory_.Read(keys, head.data(), head.size()))
    return std::nullopt;
  Keys found;
  if (layout_.lines == PythonLayout::Lines::kLocations) {
    constexpr std::size_t kLogOfIndexBytes = 9, kKind = 10, kCount = 24, kIndices = 32;
    const auto log = static_cast<unsigned char>(head[kLogOfIndexBytes]);
    if (log > 32) return std::nullopt;
    found.entries = keys + kIndices + (1ULL << log);
    found.entry_bytes = head[kKind] == 0 ? kWithHash : kWithoutHash;
    std::memcpy(&found.count, head.data() + kCount, 8);
  } else {
    constexpr std::size_t kSize = 8, kCount = 32, kIndices = 40;
    std::uint64_t size = 0;
    std::memcpy(&size, head.data() + kSize, 8);
    std::memcpy(&found.count, head.data() + kCount, 8);
    const std::uint64_t index_bytes = size <= 0xFF ? 1 : size <= 0xFFFF ? 2 : 4;
    found.entries = keys + kIndices + size * index_bytes;
    found.entry_bytes = kWithHash;
  }
  found.key_offset = found.entry_bytes - kWithoutHash;
  return found.count > kMaxEntries ? std::nullopt : std::optional(found);
}

std::vector<AttributeReader::Entry> AttributeReader::Entries(
    const std::optional<Table>& table) const {
  const auto keys = table ? ReadKeys(table->keys) : std::nullopt;
  if (!keys || keys->count == 0) return {};
  std::vector<char> bytes(keys->count * keys->entry_bytes);
  std::vector<std::uint64_t> values(table->values == 0 ? 0 : keys->count);
  if (!memory_.Read(keys->entries, bytes.data(), bytes.size()) ||
      (!values.empty() && !memory_.Read(table->values, values.data(), values.size() * 8)))
    return {};
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < keys->count; ++i) {
    Entry entry{};
    std::memcpy(&entry, bytes.data() + i * keys->entry_bytes + keys->key_offset, sizeof entry);
    if (!values.empty()) entry.value = values[i];
    if (entry.key != 0 && entry.value != 0) entries.push_back(entry);
  }
  return entries;
}

std::vector<AttributeReader::Entry> AttributeReader::Items(std::uint64_t dict) const {
  return Entries(TableOfDict(dict));
}

std::vector<AttributeReader::Entry> AttributeReader::Attributes(std::uint64_t object) const {
  return Entries(TableOfObject(object));
}

}  // namespace traceinject
