// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/source_line.h"

#include <sys/stat.h>

#include <fstream>

namespace traceinject {

std::string SourceLine(const std::string& file, std::int64_t line,
                       std::int64_t unchanged_since_ns) {
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  // What is named relative to the folder of the program could be any file here.
  if (line <= 0 || file.empty() || file.front() != '/') return "";
  struct stat facts {};
  if (stat(file.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      facts.st_mtim.tv_sec * kSecondNs + facts.st_mtim.tv_nsec > unchanged_since_ns)
    return "";
  std::ifstream in(file);
  std::string text;
  for (std::int64_t at = 0; at < line; ++at) {
    if (!std::getline(in, text)) return "";
  }
  constexpr char kSpace[] = " \t\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

}  // namespace traceinject
