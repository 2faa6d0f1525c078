// SPDX-License-Identifier: Apache-2.0
// compare_pictures EXPECTED.png ACTUAL.png DIFFERENCE.png: 0 if they are as good as the same. If
// not, says how much differs and writes where, and 1; 2 if a file cannot be read or written.
// compare_pictures --accept EXPECTED.png ACTUAL.png: from now on the actual one is expected, unless
// they are as good as the same already: a picture that is stored anew stays in the history.
#include <cstdio>
#include <string>

#include "tests/golden_images/picture.h"
#include "viewer/core/paint/testing/read_png.h"

namespace traceinject {
namespace {

constexpr int kSame = 0, kDiffers = 1, kFailed = 2;

int Fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  return kFailed;
}

int Write(const std::string& path, const Image& image, int otherwise) {
  const Status written = WritePng(path, image);
  return written.ok() ? otherwise : Fail(written.error());
}

int Accept(const std::string& expected_path, const std::string& actual_path) {
  const auto expected = ReadPng(expected_path), actual = ReadPng(actual_path);
  if (!actual.ok()) return Fail(actual.error());
  if (expected.ok() && Compare(expected.value(), actual.value()).accepted()) return kSame;
  return Write(expected_path, ToStore(actual.value()), kSame);
}

int CompareFiles(const std::string& expected_path, const std::string& actual_path,
                 const std::string& difference_path) {
  const auto expected = ReadPng(expected_path), actual = ReadPng(actual_path);
  if (!expected.ok() || !actual.ok()) {
    return Fail(expected.ok() ? actual.error() : expected.error());
  }
  const PictureDifference difference = Compare(expected.value(), actual.value());
  if (difference.accepted()) return kSame;
  if (!difference.same_size) {
    std::fprintf(stderr, "%dx%d pixels instead of %dx%d\n", actual.value().width_px,
                 actual.value().height_px, expected.value().width_px, expected.value().height_px);
    return kDiffers;
  }
  std::fprintf(stderr, "%zu cells of %dx%d pixels differ, %zu may\n", difference.cells, kCellPx,
               kCellPx, kMaxCells);
  return Write(difference_path, DrawDifference(expected.value(), actual.value()), kDiffers);
}

}  // namespace
}  // namespace traceinject

int main(int argc, char** argv) {
  if (argc != 4) {
    return traceinject::Fail(
        "usage: compare_pictures [--accept] EXPECTED.png ACTUAL.png [DIFFERENCE.png]");
  }
  if (std::string(argv[1]) == "--accept") return traceinject::Accept(argv[2], argv[3]);
  return traceinject::CompareFiles(argv[1], argv[2], argv[3]);
}
