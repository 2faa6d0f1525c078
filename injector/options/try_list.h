// SPDX-License-Identifier: Apache-2.0
// TRACEINJECT_TRY: "num_workers=4,alloc_conf=expandable_segments:True". What stands behind a comma
// and does not begin with the name of a lever and "=" belongs to the value before it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace traceinject {

// One lever of schemas/try_levers.h, or of "env.NAME" any variable.
struct TryWish {
  std::string lever, value;

  // As in the option; system_fact.key.
  std::string text() const { return lever + "=" + value; }
  bool operator==(const TryWish&) const = default;
};

// The lever that a piece of a list begins with, "num_workers" of "num_workers=4"; empty: none.
std::string_view LeverOfPiece(std::string_view piece);

// False: it begins with no lever, or names one twice; `wishes` is then as before. O(bytes x
// levers).
bool ParseTryList(std::string_view text, std::vector<TryWish>* wishes);

}  // namespace traceinject
