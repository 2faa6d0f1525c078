// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/code_object.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace traceinject {
namespace {

void AppendUtf8(std::uint32_t point, std::string* to) {
  const auto add = [&](std::uint32_t byte) { to->push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xC0 | point >> 6);
    add(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    add(0xE0 | point >> 12);
    add(0x80 | (point >> 6 & 0x3F));
    add(0x80 | (point & 0x3F));
  } else if (point < 0x110000) {
    add(0xF0 | point >> 18);
    add(0x80 | (point >> 12 & 0x3F));
    add(0x80 | (point >> 6 & 0x3F));
    add(0x80 | (point & 0x3F));
  }
}

// Characters of 1, 2 or 4 bytes.
std::string ToUtf8(const std::string& characters, std::size_t kind) {
  std::string text;
  for (std::size_t i = 0; i + kind <= characters.size(); i += kind) {
    std::uint32_t point = 0;
    std::memcpy(&point, characters.data() + i, kind);
    AppendUtf8(point, &text);
  }
  return text;
}

}  // namespace

std::uint32_t CodeWords::Check() const {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::uint64_t word :
       {file, name, lines, static_cast<std::uint64_t>(static_cast<std::uint32_t>(first_line))}) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 32;
  }
  return static_cast<std::uint32_t>(hash);
}

std::size_t CodeBytes(const PythonLayout& layout) {
  return std::max({layout.code_file, layout.code_name, layout.code_lines, layout.code_first_line,
                   layout.object_type, layout.size}) +
         8;
}

CodeWords DecodeCode(const PythonLayout& layout, const char* code) {
  CodeWords words;
  std::memcpy(&words.type, code + layout.object_type, 8);
  std::memcpy(&words.file, code + layout.code_file, 8);
  std::memcpy(&words.name, code + layout.code_name, 8);
  std::memcpy(&words.lines, code + layout.code_lines, 8);
  std::memcpy(&words.first_line, code + layout.code_first_line, 4);
  if (layout.lines == PythonLayout::Lines::kLocations)
    std::memcpy(&words.units, code + layout.size, 8);
  return words;
}

std::optional<std::string> ReadText(const ProcessMemory& memory, const PythonLayout& layout,
                                    const PythonTypes& types, std::uint64_t text) {
  // Most are shorter, and come with one read.
  std::array<char, 256> head;
  const std::size_t there = memory.ReadUpTo(text, head.data(), head.size());
  if (there < layout.text_wide) return std::nullopt;
  std::uint64_t type = 0;
  std::int64_t length = 0;
  std::uint32_t state = 0;
  std::memcpy(&type, head.data() + layout.object_type, 8);
  std::memcpy(&length, head.data() + layout.text_length, 8);
  std::memcpy(&state, head.data() + layout.text_state, 4);
  if (type != types.text || length < 0) return std::nullopt;
  const std::uint32_t bits = state >> layout.text_kind_shift;
  const std::size_t kind = bits & 7;
  const bool is_compact = (bits & 8) != 0, is_ascii = (bits & 16) != 0;
  if (!is_compact || (kind != 1 && kind != 2 && kind != 4)) return std::nullopt;
  const std::size_t begin = is_ascii ? layout.text_ascii : layout.text_wide;
  const std::size_t size = std::min(static_cast<std::size_t>(length), kMaxText) * kind;
  std::string characters(size, '\0');
  if (begin + size <= there) {
    std::memcpy(characters.data(), head.data() + begin, size);
  } else if (!memory.Read(text + begin, characters.data(), size)) {
    return std::nullopt;
  }
  return is_ascii ? characters : ToUtf8(characters, kind);
}

std::optional<std::string> ReadBytes(const ProcessMemory& memory, const PythonLayout& layout,
                                     const PythonTypes& types, std::uint64_t bytes) {
  constexpr std::int64_t kMaxBytes = 1 << 20;
  std::array<char, 64> head;
  if (layout.bytes_data > head.size() || !memory.Read(bytes, head.data(), layout.bytes_data))
    return std::nullopt;
  std::uint64_t type = 0;
  std::int64_t size = 0;
  std::memcpy(&type, head.data() + layout.object_type, 8);
  std::memcpy(&size, head.data() + layout.size, 8);
  if (type != types.bytes || size < 0 || size > kMaxBytes) return std::nullopt;
  std::string content(static_cast<std::size_t>(size), '\0');
  if (size != 0 && !memory.Read(bytes + layout.bytes_data, content.data(), content.size()))
    return std::nullopt;
  return content;
}

}  // namespace traceinject
