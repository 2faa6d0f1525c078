// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/changed_json.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <map>

namespace traceinject {
namespace {

// Behind the last character of a scalar that begins here.
std::size_t EndOfScalar(const std::string& text, std::size_t at) {
  if (text[at] != '"') return std::min(text.find_first_of(",]} \n\t\r", at), text.size());
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

}  // namespace

ChangedJson::ChangedJson(std::string document) : document_(std::move(document)) {
  for (std::size_t at = 0; at < document_.size();) {
    if (std::string_view("{}[]:, \n\t\r").find(document_[at]) != std::string_view::npos) {
      ++at;
      continue;
    }
    const std::size_t end = EndOfScalar(document_, at);
    const std::size_t next = document_.find_first_not_of(" \n\t\r", end);
    if (next == std::string::npos || document_[next] != ':') values_.push_back({at, end});
    at = end;
  }
}

std::string ChangedJson::ChooseValue(InputBytes& input, const Value& old) const {
  static constexpr const char* kValues[] = {
      "null",
      "true",
      "0",
      "-1",
      "0.5",
      "1e300",
      "-1e300",
      "1e999",
      "9223372036854775807",
      "-9223372036854775808",
      "18446744073709551615",
      "4611686018427387904",
      "4294967296",
      "NaN",
      "\"\"",
      "\"soon\"",
      "\"12\"",
      "\"\\u0000\\ud800\\u001b\"",
      "\"\xff\xfe\x1b\"",
      "{}",
      "[]",
      "[[8, 16], [16, -4], [9223372036854775807, 9223372036854775807]]",
      "{\"a\": [1",
      "[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]",
      "",
      "\"kernel\"",
      "\"gpu_memcpy\"",
      "\"cuda_runtime\"",
      "\"user_annotation\"",
      "\"cpu_op\"",
      "\"python_function\"",
      "\"B\""};
  const std::size_t choice = input.Below(std::size(kValues) + 6);
  if (choice < std::size(kValues)) return kValues[choice];
  const std::string was = document_.substr(old.begin, old.end - old.begin);
  switch (choice - std::size(kValues)) {
    case 0:
      return "-" + was;
    case 1:
      return was + "000000";
    case 2: {
      const Value& other = values_[input.Below(values_.size())];
      return document_.substr(other.begin, other.end - other.begin);
    }
    case 3:
      return fmt::format("{}", static_cast<std::int16_t>(input.Number(2)));
    case 4:
      return fmt::format("{}", static_cast<std::int64_t>(input.Number(8)));
    default:
      return fmt::format("{}.{:03}", static_cast<std::int64_t>(input.Number(7)),
                         input.Number(2) % 1000);
  }
}

std::string ChangedJson::Choose(InputBytes& input) const {
  const bool cut = input.Byte() % 16 == 15;
  std::map<std::size_t, std::string> changes;  // by index of the value
  while (!input.is_empty() && changes.size() < kMostChanges) {
    const std::size_t index = input.Below(values_.size());
    changes[index] = ChooseValue(input, values_[index]);
  }
  std::string changed;
  std::size_t copied = 0;
  for (const auto& [index, value] : changes) {
    changed.append(document_, copied, values_[index].begin - copied);
    changed += value;
    copied = values_[index].end;
  }
  if (!cut || changes.empty()) changed.append(document_, copied);
  return changed;
}

}  // namespace traceinject
