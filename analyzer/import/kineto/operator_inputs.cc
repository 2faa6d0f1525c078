// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/kineto/operator_inputs.h"

#include <algorithm>
#include <charconv>

#include "analyzer/common/digit.h"

namespace traceinject {
namespace {

constexpr TensorType kTypes[] = {
    {"float", "Float", 4, 0},
    {"double", "Double", 8, 1},
    {"c10::Half", "Half", 2, 2},
    {"c10::BFloat16", "BFloat16", 2, 14},
    {"long int", "Long", 8, -1},
    {"long", "Long", 8, -1},
    {"int", "Int", 4, 10},
    {"short int", "Short", 2, -1},
    {"signed char", "Char", 1, 3},
    {"unsigned char", "Byte", 1, -1},
    {"bool", "Bool", 1, -1},
    {"uint16_t", "UInt16", 2, -1},
    {"uint32_t", "UInt32", 4, -1},
    {"uint64_t", "UInt64", 8, -1},
    {"c10::complex<c10::Half>", "ComplexHalf", 4, 6},
    {"c10::complex<float>", "ComplexFloat", 8, 4},
    {"c10::complex<double>", "ComplexDouble", 16, 5},
    {"c10::Float8_e4m3fn", "Float8_e4m3fn", 1, 28},
    {"c10::Float8_e5m2", "Float8_e5m2", 1, 29},
    {"c10::Float8_e4m3fnuz", "Float8_e4m3fnuz", 1, -1},
    {"c10::Float8_e5m2fnuz", "Float8_e5m2fnuz", 1, -1},
};

// The number that begins at `at`, which is moved behind it.
std::int64_t TakeNumber(std::string_view text, std::size_t& at) {
  std::int64_t number = 0;
  const auto [rest, code] = std::from_chars(text.data() + at, text.data() + text.size(), number);
  at = std::max(at + 1, static_cast<std::size_t>(rest - text.data()));
  return code == std::errc() ? number : -1;
}

}  // namespace

std::vector<OperatorInput> ParseInputDims(std::string_view json) {
  std::vector<OperatorInput> inputs;
  int depth = 0;
  for (std::size_t at = 0; at < json.size();) {
    if (json[at] == '[') {
      ++depth;
      if (depth == 2) inputs.emplace_back();
      // A list of tensors is one of lists; of anything deeper nothing is known.
      if (depth == 3) inputs.back().emplace_back();
      ++at;
    } else if (json[at] == ']') {
      depth = std::max(0, depth - 1);
      ++at;
    } else if (IsDigit(json[at]) && (depth == 2 || depth == 3)) {
      if (inputs.back().empty()) inputs.back().emplace_back();
      inputs.back().back().push_back(TakeNumber(json, at));
    } else {
      ++at;
    }
  }
  for (OperatorInput& input : inputs) {
    if (input.empty()) input.emplace_back();
  }
  return inputs;
}

std::vector<std::string_view> ParseTexts(std::string_view json) {
  std::vector<std::string_view> texts;
  int depth = 0;
  bool taken = false;  // of a list in the list, the first text
  for (std::size_t at = 0; at < json.size(); ++at) {
    if (json[at] == '[') {
      taken = false;
      if (++depth == 2) texts.emplace_back();
    } else if (json[at] == ']') {
      --depth;
    } else if (json[at] == '"') {
      const std::size_t begin = at + 1;
      for (at = begin; at < json.size() && json[at] != '"'; ++at) at += json[at] == '\\' ? 1 : 0;
      const std::size_t end = std::min(at, json.size());
      const std::string_view text = json.substr(std::min(begin, end), end - std::min(begin, end));
      if (depth == 1) texts.push_back(text);
      if (depth == 2 && !taken) texts.back() = text;
      taken = true;
    }
  }
  return texts;
}

std::vector<std::int64_t> ParseNumbers(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; at < text.size();) {
    if (IsDigit(text[at])) {
      numbers.push_back(TakeNumber(text, at));
    } else {
      ++at;
    }
  }
  return numbers;
}

const TensorType* FindTensorType(std::string_view name) {
  const auto* const found = std::find_if(
      std::begin(kTypes), std::end(kTypes),
      [&](const TensorType& type) { return type.of_input == name || type.of_collective == name; });
  return found == std::end(kTypes) ? nullptr : found;
}

std::int64_t CountElements(const TensorSizes& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return -1;
  }
  return count;
}

}  // namespace traceinject
