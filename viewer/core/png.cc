// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/png.h"

#include <fcntl.h>
#include <png.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "analyzer/common/private_file.h"

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

Result<Image> ReadPng(const std::string& path) {
  png_image png = Describe({});
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

Status WritePng(const std::string& path, const Image& image) {
  const auto fail = [&](const std::string& why) {
    return Error{path + ": cannot write (" + why +
                 "). Check that the folder exists and is writable."};
  };
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kPrivateFileMode);
  std::FILE* file = fd < 0 ? nullptr : fdopen(fd, "wb");
  if (file == nullptr) return fail(std::strerror(errno));
  png_image png = Describe(image);
  const bool written = png_image_write_to_stdio(&png, file, 0, image.rgb.data(), 0, nullptr) != 0;
  const bool closed = std::fclose(file) == 0;
  if (!written) return fail(png.message);
  if (!closed) return fail(std::strerror(errno));
  return Done{};
}

}  // namespace traceinject
