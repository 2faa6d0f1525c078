// SPDX-License-Identifier: Apache-2.0
#include "analyzer/http/http_message.h"

#include <optional>

#include "analyzer/http/letter_case.h"

namespace traceinject {
namespace {

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Takes what stands before the separator off the text.
std::string_view TakeUntil(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return Trimmed(taken);
}

// "0", "0.", "0.000": never.
bool IsZeroWeight(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view value = TakeUntil(parameters, ';');
    if (LowerCase(TakeUntil(value, '=')) == "q")
      return !value.empty() && value.find_first_not_of("0. \t") == std::string_view::npos;
  }
  return false;
}

}  // namespace

std::string_view HttpRequest::header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_case_name) return value;
  }
  return {};
}

bool AcceptsWord(std::string_view header, std::string_view word) {
  std::optional<bool> named, any;
  while (!header.empty()) {
    std::string_view parameters = TakeUntil(header, ',');
    const std::string name = LowerCase(TakeUntil(parameters, ';'));
    if (name == word) named = !IsZeroWeight(parameters);
    if (name == "*") any = !IsZeroWeight(parameters);
  }
  return named.value_or(any.value_or(false));
}

}  // namespace traceinject
