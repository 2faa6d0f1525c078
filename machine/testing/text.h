// SPDX-License-Identifier: Apache-2.0
// For tests: the text of files, and what a text says.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace traceinject {

// All bytes of a file; empty if it cannot be read.
inline std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline bool Says(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace traceinject
