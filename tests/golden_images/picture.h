// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "viewer/core/paint/png.h"

namespace traceinject {

// With so few levels of each color that the file is small; far fewer than are told apart below.
Image ToStore(Image image);

// Pictures are compared by cells of so many pixels each way: what a driver rounds differently at an
// edge is small in the mean over a cell.
inline constexpr int kCellPx = 4;
// A cell differs if the mean of a color does by more, of 255.
inline constexpr int kCellTolerance = 20;
// So many may differ: a digit or two, but no word, no row and no line of text.
inline constexpr std::size_t kMaxCells = 20;

struct PictureDifference {
  bool same_size = true;
  std::size_t cells = 0;  // that differ
  bool accepted() const { return same_size && cells <= kMaxCells; }
};

PictureDifference Compare(const Image& expected, const Image& actual);

// The expected picture, pale, with the cells that differ in red. Both must have one size.
Image DrawDifference(const Image& expected, const Image& actual);

}  // namespace traceinject
