// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/paint/testing/read_png.h"

#include <png.h>

namespace traceinject {

Result<Image> ReadPng(const std::string& path) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&png, path.c_str()) == 0) {
    return Error{path + ": " + png.message};
  }
  png.format = PNG_FORMAT_RGB;
  Image image{static_cast<int>(png.width), static_cast<int>(png.height), {}};
  image.rgb.resize(PNG_IMAGE_SIZE(png));
  if (png_image_finish_read(&png, nullptr, image.rgb.data(), 0, nullptr) == 0) {
    return Error{path + ": " + png.message};
  }
  return image;
}

}  // namespace traceinject
