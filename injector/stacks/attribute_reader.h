// SPDX-License-Identifier: Apache-2.0
// Attributes and dicts of Python's objects, read out of the memory of a process like its frames: of
// no one moment, and possibly of an object that is gone. What is found is to be checked by what it
// leads to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "injector/stacks/code_object.h"
#include "injector/stacks/process_memory.h"
#include "injector/stacks/python_layout.h"

namespace traceinject {

class AttributeReader {
 public:
  // Addresses of objects.
  struct Entry {
    std::uint64_t key, value;
  };
  // No dict that is read has more.
  static constexpr std::size_t kMaxEntries = 1 << 14;

  // All outlive this. Of layouts that have attributes.
  AttributeReader(const ProcessMemory& memory, const PythonLayout& layout, const PythonTypes& types)
      : memory_(memory), layout_(layout), types_(types) {}

  std::uint64_t Type(std::uint64_t object) const;
  // "Linear"; empty: it cannot be read.
  std::string TypeName(std::uint64_t type) const;
  // Of a str. Empty: it is none.
  std::string Text(std::uint64_t text) const;

  // Of a dict, and of the attributes of an object; values that are missing are left out. Empty: it
  // is none, or has none. O(entries).
  std::vector<Entry> Items(std::uint64_t dict) const;
  std::vector<Entry> Attributes(std::uint64_t object) const;

 private:
  // Where a table is: its keys, and its values where those are not beside them (0: they are).
  struct Table {
    std::uint64_t keys = 0, values = 0;
  };
  struct Keys {
    std::uint64_t entries = 0;  // address of the first
    std::uint64_t count = 0, entry_bytes = 0, key_offset = 0;
  };

  std::optional<Table> TableOfDict(std::uint64_t dict) const;
  std::optional<Table> TableOfObject(std::uint64_t object) const;
  std::optional<Table> ManagedTable(std::uint64_t object, std::uint64_t type) const;
  std::optional<Keys> ReadKeys(std::uint64_t keys) const;
  std::vector<Entry> Entries(const std::optional<Table>& table) const;

  const ProcessMemory& memory_;
  const PythonLayout& layout_;
  const PythonTypes& types_;
};

}  // namespace traceinject
