// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/loaded_code.h"

#include <algorithm>
#include <array>
#include <utility>

#include "injector/stacks/image_place.h"

namespace traceinject {
namespace {

constexpr std::string_view kDeleted = " (deleted)";  // proc(5)

// Whether a file is what is mapped: it may have been replaced by another one of its name since.
// Both begin with headers, and with what the linker numbers its outputs by.
bool IsWhatIsMapped(const ObjectFile& object, std::uint64_t begin, const ProcessMemory& memory) {
  std::array<char, 1024> mapped{}, stored{};
  return memory.Read(begin, mapped.data(), mapped.size()) &&
         ObjectFile::Access(object).ReadAt(0, stored.data(), stored.size()) && mapped == stored;
}

}  // namespace

// Null: its code cannot be told from its file.
const ObjectFile* LoadedCode::ObjectOf(const std::string& key, std::string_view path,
                                       std::uint64_t begin, const ProcessMemory& memory) {
  if (const auto known = objects_.find(key); known != objects_.end()) return known->second.get();
  if (objects_.size() >= kMaxFiles || begin == 0) return nullptr;
  // A program that was built anew meanwhile is still to be had.
  const bool is_deleted = path.ends_with(kDeleted);
  if (is_deleted) path.remove_suffix(kDeleted.size());
  auto object = std::make_unique<ObjectFile>(std::string(path), is_deleted ? "/proc/self/exe" : "");
  if (!object->has_parts() || !IsWhatIsMapped(*object, begin, memory)) return nullptr;
  return objects_.emplace(key, std::move(object)).first->second.get();
}

std::vector<LoadedCode::Mapping> LoadedCode::ReadMappings(std::string_view maps,
                                                          const ProcessMemory& memory) {
  std::vector<Mapping> mappings;
  std::string_view file;    // of the mappings that come together
  std::uint64_t begin = 0;  // where they have its first bytes; 0: nowhere
  while (!maps.empty()) {
    const std::size_t end = std::min(maps.find('\n'), maps.size());
    const auto mapped = ParseMapsLine(maps.substr(0, end));
    maps.remove_prefix(std::min(end + 1, maps.size()));
    if (!mapped) continue;
    if (std::exchange(file, mapped->file) != mapped->file) begin = 0;
    if (mapped->offset == 0 && !mapped->file.empty()) begin = mapped->start;
    if (!mapped->is_code) continue;
    const ObjectFile* object =
        mapped->file.empty() ? nullptr
                             : ObjectOf(std::string(mapped->file) + ' ' + std::string(mapped->path),
                                        mapped->path, begin, memory);
    mappings.push_back({mapped->start, mapped->end, mapped->offset, object});
  }
  return mappings;
}

bool LoadedCode::Refresh(std::string_view maps, const ProcessMemory& memory) {
  std::vector<Mapping> now = ReadMappings(maps, memory);
  const auto by_address = [](const Mapping& one, const Mapping& other) {
    return one.begin < other.begin;
  };
  std::vector<Mapping> before;
  std::merge(mappings_.begin(), mappings_.end(), gone_.begin(), gone_.end(),
             std::back_inserter(before), by_address);
  gone_.clear();
  bool holds = true;
  auto at = now.begin();
  for (const Mapping& old : before) {
    while (at != now.end() && at->end <= old.begin) ++at;
    if (at == now.end() || !at->Overlaps(old)) {
      if (gone_.size() < kMaxGone) gone_.push_back(old);
    } else {
      holds &= *at == old;
    }
  }
  mappings_ = std::move(now);
  return holds;
}

bool LoadedCode::Find(std::uint64_t address, Code* to) const {
  for (const std::vector<Mapping>* mappings : {&mappings_, &std::as_const(gone_)}) {
    auto after = std::upper_bound(
        mappings->begin(), mappings->end(), address,
        [](std::uint64_t at, const Mapping& mapping) { return at < mapping.begin; });
    if (after == mappings->begin() || (--after)->end <= address) continue;
    *to = {after->object, 0};
    // A part that the file does not have: zeros, or the mapping is none of the linker's.
    if (to->object != nullptr &&
        !to->object->AddressAt(address - after->begin + after->offset, &to->address))
      to->object = nullptr;
    return true;
  }
  return false;
}

}  // namespace traceinject
