// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <regex>
#include <string>

#include "analyzer/common/result.h"

namespace traceinject {

// A regular expression (ECMAScript) that matches anywhere in a name. Of names of more than 2048
// bytes the first ones count, because matching takes a stack as deep as they are long; an
// expression without special characters is looked for in all of it.
class NameFilter {
 public:
  static Result<NameFilter> Parse(const std::string& text);

  bool Matches(const std::string& name) const;

 private:
  std::string literal_;
  std::optional<std::regex> regex_;  // empty: the literal
};

}  // namespace traceinject
