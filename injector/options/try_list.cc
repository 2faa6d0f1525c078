// SPDX-License-Identifier: Apache-2.0
#include "injector/options/try_list.h"

#include <algorithm>

#include "schemas/try_levers.h"

namespace traceinject {
std::string_view LeverOfPiece(std::string_view piece) {
  const std::size_t equals = piece.find('=');
  if (equals == std::string_view::npos) return {};
  const std::string_view name = piece.substr(0, equals);
  const bool is_variable = name.starts_with(kTryVariable) && name.size() > kTryVariable.size();
  return is_variable || FindTryLever(name) != nullptr ? name : std::string_view();
}

bool ParseTryList(std::string_view text, std::vector<TryWish>* wishes) {
  std::vector<TryWish> found;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, text.find(','));
    text.remove_prefix(std::min(piece.size() + 1, text.size()));
    const std::string_view lever = LeverOfPiece(piece);
    if (lever.empty()) {
      if (found.empty()) return false;
      found.back().value.append(",").append(piece);
      continue;
    }
    const bool is_there = std::any_of(found.begin(), found.end(),
                                      [&](const TryWish& wish) { return wish.lever == lever; });
    if (is_there) return false;
    found.push_back({std::string(lever), std::string(piece.substr(lever.size() + 1))});
  }
  *wishes = std::move(found);
  return true;
}

}  // namespace traceinject
