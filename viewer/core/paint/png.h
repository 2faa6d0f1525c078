// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/common/result.h"

namespace traceinject {

struct Image {
  int width_px = 0, height_px = 0;
  std::vector<std::uint8_t> rgb;  // 3 bytes a pixel, rows from the top
};

// Error: the file cannot be written.
Status WritePng(const std::string& path, const Image& image);

}  // namespace traceinject
