// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/image_place.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>

#include "machine/proc_files.h"

namespace traceinject {
namespace {

// Takes what stands before the separator off the text.
std::string_view TakeField(std::string_view* text, char separator) {
  const std::size_t end = std::min(text->find(separator), text->size());
  const std::string_view field = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return field;
}

bool ParseHex(std::string_view text, std::uint64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value, 16);
  return error == std::errc() && end == text.data() + text.size();
}

// The line with this address.
std::optional<MappedFile> FindAddress(std::string_view maps, std::uint64_t address) {
  while (!maps.empty()) {
    const auto mapped = ParseMapsLine(TakeField(&maps, '\n'));
    if (mapped && mapped->start <= address && address < mapped->end) return mapped;
  }
  return std::nullopt;
}

}  // namespace

std::optional<MappedFile> ParseMapsLine(std::string_view line) {
  MappedFile mapped;
  if (!ParseHex(TakeField(&line, '-'), &mapped.start) ||
      !ParseHex(TakeField(&line, ' '), &mapped.end))
    return std::nullopt;
  mapped.is_code = TakeField(&line, ' ').find('x') != std::string_view::npos;
  if (!ParseHex(TakeField(&line, ' '), &mapped.offset)) return std::nullopt;
  const std::string_view rest = line;
  const std::string_view device = TakeField(&line, ' '), inode = TakeField(&line, ' ');
  if (inode == "0") return mapped;
  mapped.file = rest.substr(0, device.size() + 1 + inode.size());
  mapped.path = line.substr(std::min(line.find_first_not_of(' '), line.size()));
  return mapped;
}

std::optional<std::uint64_t> FindMapped(std::string_view maps, std::string_view file) {
  while (!maps.empty()) {
    const auto mapped = ParseMapsLine(TakeField(&maps, '\n'));
    if (mapped && !file.empty() && mapped->file == file) return mapped->start;
  }
  return std::nullopt;
}

// What has no bytes in the file, as objects that begin as zeros, is mapped behind it without its
// name: the image is known by where it begins.
ImagePlace::ImagePlace(std::uint64_t address) {
  Dl_info info;
  const auto maps = ReadTextFile("/proc/self/maps");
  if (!maps || dladdr(reinterpret_cast<void*>(address), &info) == 0) return;
  base_ = reinterpret_cast<std::uint64_t>(info.dli_fbase);
  if (const auto mapped = FindAddress(*maps, base_)) file_ = mapped->file;
}

std::optional<std::int64_t> ImagePlace::ShiftIn(pid_t pid) const {
  const auto maps = ReadTextFile("/proc/" + std::to_string(pid) + "/maps");
  const auto there = maps ? FindMapped(*maps, file_) : std::nullopt;
  if (!there) return std::nullopt;
  return static_cast<std::int64_t>(*there - base_);
}

}  // namespace traceinject
