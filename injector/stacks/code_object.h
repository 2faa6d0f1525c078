// SPDX-License-Identifier: Apache-2.0
// What a code object says of itself, read out of the memory of a process like its frames. Addresses
// of code objects are used again: what is known of one holds as long as CodeWords are the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "injector/stacks/process_memory.h"
#include "injector/stacks/python_layout.h"

namespace traceinject {

// What tells a code object from another one at the same address, without following its pointers.
struct CodeWords {
  std::uint64_t type = 0, file = 0, name = 0, lines = 0;
  std::int64_t units = 0;  // of instructions; before 3.11 unknown
  std::int32_t first_line = 0;

  bool operator==(const CodeWords&) const = default;
  // The same in short.
  std::uint32_t Check() const;
};

// How much of a code object has to be read for that.
std::size_t CodeBytes(const PythonLayout& layout);
inline constexpr std::size_t kMaxCodeBytes = 160;
CodeWords DecodeCode(const PythonLayout& layout, const char* code);

// The types of the objects that are read; of the process that they are in.
struct PythonTypes {
  std::uint64_t code = 0, text = 0, bytes = 0;
};

// Texts that are longer are clipped.
inline constexpr std::size_t kMaxText = 4096;

// A str as UTF-8. Empty: it is none, or of a kind that is not read.
std::optional<std::string> ReadText(const ProcessMemory& memory, const PythonLayout& layout,
                                    const PythonTypes& types, std::uint64_t text);
// A bytes object. Empty: it is none.
std::optional<std::string> ReadBytes(const ProcessMemory& memory, const PythonLayout& layout,
                                     const PythonTypes& types, std::uint64_t bytes);

}  // namespace traceinject
