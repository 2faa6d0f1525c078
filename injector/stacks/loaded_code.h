// SPDX-License-Identifier: Apache-2.0
// Which file the machine code at an address of this process is of, by /proc/self/maps: no lock of
// the dynamic linker, which a child that is forked meanwhile would inherit. What was unloaded is
// remembered until other code takes its place: stacks tell of the past.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "injector/stacks/object_file.h"
#include "injector/stacks/process_memory.h"

namespace traceinject {

class LoadedCode {
 public:
  // Beyond them code is of no file.
  static constexpr std::size_t kMaxFiles = 4096, kMaxGone = 1024;

  // False: other code is where some was, so that what is known of addresses no longer holds.
  // `maps`: the text of /proc/self/maps. O(mappings).
  bool Refresh(std::string_view maps, const ProcessMemory& memory);

  // What is at an address of the process.
  struct Code {
    const ObjectFile* object = nullptr;  // null: not known, as of code made at run time
    std::uint64_t address = 0;           // as the object has it
  };
  // False: it is no code. O(log mappings).
  bool Find(std::uint64_t address, Code* to) const;

 private:
  struct Mapping {
    std::uint64_t begin = 0, end = 0, offset = 0;
    const ObjectFile* object = nullptr;

    bool operator==(const Mapping&) const = default;
    bool Overlaps(const Mapping& other) const { return begin < other.end && other.begin < end; }
  };

  std::vector<Mapping> ReadMappings(std::string_view maps, const ProcessMemory& memory);
  const ObjectFile* ObjectOf(const std::string& key, std::string_view path, std::uint64_t begin,
                             const ProcessMemory& memory);

  std::vector<Mapping> mappings_;                                         // by address
  std::vector<Mapping> gone_;                                             // likewise
  std::unordered_map<std::string, std::unique_ptr<ObjectFile>> objects_;  // by inode and path
};

}  // namespace traceinject
