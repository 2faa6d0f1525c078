// SPDX-License-Identifier: Apache-2.0
// For tests: whole files, byte by byte.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace traceinject {

inline void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// Empty if there is no such file.
inline std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace traceinject
