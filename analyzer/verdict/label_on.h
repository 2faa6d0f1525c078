// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

// "launch_bound", "dataloader on rank 3".
inline std::string LabelOn(std::string_view label, std::string_view place) {
  std::string text(label);
  if (!place.empty()) text.append(" on ").append(place);
  return text;
}

// Of Verdict, Saving and FixStep.
template <typename Message>
std::string LabelOn(const Message& message) {
  return LabelOn(message.label(), message.place());
}

}  // namespace traceinject
