// SPDX-License-Identifier: Apache-2.0
#include "tests/golden_images/picture.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace traceinject {
namespace {

constexpr int kColors = 3;

std::size_t Offset(const Image& picture, int x, int y) {
  return (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width_px) +
          static_cast<std::size_t>(x)) *
         kColors;
}

// Cells at the right and the lower edge may be smaller.
struct Cell {
  int left, top, right, bottom;
};

std::array<int, kColors> Mean(const Image& picture, const Cell& cell) {
  std::array<int, kColors> sum = {};
  for (int y = cell.top; y < cell.bottom; ++y) {
    for (int x = cell.left; x < cell.right; ++x) {
      const std::uint8_t* const pixel = &picture.rgb[Offset(picture, x, y)];
      for (std::size_t i = 0; i < kColors; ++i) sum[i] += pixel[i];
    }
  }
  for (int& part : sum) part /= (cell.right - cell.left) * (cell.bottom - cell.top);
  return sum;
}

std::vector<Cell> DifferingCells(const Image& expected, const Image& actual) {
  std::vector<Cell> cells;
  for (int y = 0; y < expected.height_px; y += kCellPx) {
    for (int x = 0; x < expected.width_px; x += kCellPx) {
      const Cell cell{x, y, std::min(x + kCellPx, expected.width_px),
                      std::min(y + kCellPx, expected.height_px)};
      const auto a = Mean(expected, cell), b = Mean(actual, cell);
      for (std::size_t i = 0; i < kColors; ++i) {
        if (std::abs(a[i] - b[i]) <= kCellTolerance) continue;
        cells.push_back(cell);
        break;
      }
    }
  }
  return cells;
}

}  // namespace

Image ToStore(Image image) {
  constexpr int kMax = 255, kLevels = 31;
  for (std::uint8_t& part : image.rgb) {
    const int level = (part * kLevels + kMax / 2) / kMax;
    part = static_cast<std::uint8_t>(level * kMax / kLevels);
  }
  return image;
}

PictureDifference Compare(const Image& expected, const Image& actual) {
  if (expected.width_px != actual.width_px || expected.height_px != actual.height_px) {
    return {.same_size = false, .cells = 0};
  }
  return {.same_size = true, .cells = DifferingCells(expected, actual).size()};
}

Image DrawDifference(const Image& expected, const Image& actual) {
  Image drawn = expected;
  for (std::uint8_t& part : drawn.rgb) part = static_cast<std::uint8_t>(170 + part / 3);
  for (const Cell& cell : DifferingCells(expected, actual)) {
    for (int y = cell.top; y < cell.bottom; ++y) {
      for (int x = cell.left; x < cell.right; ++x) {
        const std::array<std::uint8_t, kColors> red = {220, 0, 0};
        std::copy(red.begin(), red.end(), &drawn.rgb[Offset(drawn, x, y)]);
      }
    }
  }
  return drawn;
}

}  // namespace traceinject
