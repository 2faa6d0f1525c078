// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/target.h"

#include <algorithm>

namespace traceinject {

const FuzzTarget* FindFuzzTarget(std::string_view name) {
  const auto targets = FuzzTargets();
  const auto found = std::find_if(targets.begin(), targets.end(),
                                  [&](const FuzzTarget& target) { return target.name == name; });
  return found == targets.end() ? nullptr : &*found;
}

}  // namespace traceinject
