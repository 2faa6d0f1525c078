// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/marked_places.h"

#include "analyzer/common/printable.h"

namespace traceinject {

MarkedPlaces::MarkedPlaces(const Run& run, const CodeKey& key) {
  for (std::uint32_t index = 0; index < run.ranks.size(); ++index) {
    const Rank& rank = run.ranks[index];
    // The report has printable texts.
    std::vector<bool> is_file, is_function;
    for (const std::string& text : rank.strings) {
      const std::string printable = Printable(text);
      is_file.push_back(printable == key.file);
      is_function.push_back(printable == key.function);
    }
    std::vector<bool>& marked = marked_.emplace_back();
    for (const CodePlace& place : rank.places) {
      const bool file = place.file == kNone ? key.file.empty() : is_file[place.file];
      const bool function =
          place.function == kNone ? key.function.empty() : is_function[place.function];
      marked.push_back(file && function && (key.line == 0 || key.line == place.line));
      if (marked.back() && !first_)
        first_.emplace(index, static_cast<std::uint32_t>(marked.size()) - 1);
    }
  }
}

}  // namespace traceinject
