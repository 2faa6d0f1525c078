// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace traceinject {

struct ExportCounts {
  std::uint64_t events = 0;    // slices, marks and values
  std::uint64_t left_out = 0;  // more went on at once than there are tracks for
};

}  // namespace traceinject
