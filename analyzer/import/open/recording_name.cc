// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/open/recording_name.h"

namespace traceinject {
namespace {

constexpr std::string_view kExtension = ".db", kRank = ".rank", kProcess = ".p";
constexpr std::string_view kDigits = "0123456789";

// Removes `word` and a number from the end.
bool RemoveNumber(std::string_view& name, std::string_view word) {
  const std::size_t last = name.find_last_not_of(kDigits);
  if (last == std::string_view::npos || last + 1 == name.size()) return false;
  const std::string_view before = name.substr(0, last + 1);
  if (!before.ends_with(word) || before.size() == word.size()) return false;
  name = before.substr(0, before.size() - word.size());
  return true;
}

}  // namespace

RecordingName ParseRecordingName(std::string_view name) {
  RecordingName parsed{std::string(name)};
  const std::size_t extension = name.find(kExtension);
  if (extension == std::string_view::npos || extension == 0) return parsed;
  const std::string_view rest = name.substr(extension + kExtension.size());
  if (!rest.empty() && rest.front() != '.') return parsed;
  std::string_view stem = name.substr(0, extension);
  parsed.of_process = RemoveNumber(stem, kProcess);
  parsed.of_rank = RemoveNumber(stem, kRank);
  parsed.stem = stem;
  return parsed;
}

}  // namespace traceinject
