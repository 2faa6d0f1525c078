// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/paint/png.h"

#include <png.h>

#include <cstring>
#include <string_view>

#include "analyzer/import/source/new_file.h"

namespace traceinject {
namespace {

png_image Describe(const Image& image) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.format = PNG_FORMAT_RGB;
  png.width = static_cast<png_uint_32>(image.width_px);
  png.height = static_cast<png_uint_32>(image.height_px);
  return png;
}

}  // namespace

Status WritePng(const std::string& path, const Image& image) {
  const auto fail = [&](const std::string& why) {
    return Error{path + ": cannot write (" + why +
                 "). Check that the folder exists and is writable."};
  };
  png_image png = Describe(image);
  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(png), '\0');
  png_alloc_size_t size = bytes.size();
  if (png_image_write_to_memory(&png, bytes.data(), &size, 0, image.rgb.data(), 0, nullptr) == 0)
    return fail(png.message);
  const WriteFailure failure = WriteWhole(path, std::string_view(bytes).substr(0, size));
  if (failure.error != 0) return fail(std::strerror(failure.error));
  return Done{};
}

}  // namespace traceinject
