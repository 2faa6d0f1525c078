// SPDX-License-Identifier: Apache-2.0
// A field of a message is set only if its value is known.
#pragma once

#include <optional>

namespace traceinject {

// set(*value), if there is one.
template <typename T, typename Set>
void SetIf(const std::optional<T>& value, Set set) {
  if (value) set(*value);
}

}  // namespace traceinject
