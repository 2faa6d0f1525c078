// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "injector/options/try_list.h"

namespace traceinject {

// The levers of what was tried, "num_workers=4,pin_memory=1"; empty: it is no such list.
inline std::vector<TryWish> WishesOf(std::string_view tried) {
  std::vector<TryWish> wishes;
  return ParseTryList(tried, &wishes) ? wishes : std::vector<TryWish>();
}

}  // namespace traceinject
