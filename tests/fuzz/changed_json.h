// SPDX-License-Identifier: Apache-2.0
// A document of JSON with values that an input chooses: those that are there changed, lost, or
// moved elsewhere.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/fuzz/input_bytes.h"

namespace traceinject {

class ChangedJson {
 public:
  explicit ChangedJson(std::string document);

  // With at most kMostChanges of its values changed. Where the input ends early, the document may
  // be cut off.
  std::string Choose(InputBytes& input) const;

 private:
  static constexpr std::size_t kMostChanges = 48;

  // A number, a word, or a text, with its quotes; not a key.
  struct Value {
    std::size_t begin, end;
  };
  std::string ChooseValue(InputBytes& input, const Value& old) const;

  std::string document_;
  std::vector<Value> values_;
};

}  // namespace traceinject
