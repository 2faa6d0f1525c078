// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/png.h"

#include <zlib.h>

#include <fstream>
#include <unordered_map>

namespace traceinject {
namespace {

constexpr std::size_t kMostInPalette = 256;
constexpr char kTrueColour = 2, kPalette = 3, kNoFilter = 0;

void AppendNumber(std::string& bytes, std::size_t number) {
  for (const unsigned shift : {24, 16, 8, 0}) {
    bytes += static_cast<char>(number >> shift & 0xff);
  }
}

void AppendChunk(std::string& png, const std::string& type, const std::string& data) {
  AppendNumber(png, data.size());
  const std::string checked = type + data;
  png += checked;
  AppendNumber(png, crc32(0, reinterpret_cast<const Bytef*>(checked.data()),
                          static_cast<uInt>(checked.size())));
}

std::string Compress(const std::string& data) {
  uLongf size = compressBound(data.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
            reinterpret_cast<const Bytef*>(data.data()), data.size(), Z_BEST_COMPRESSION);
  packed.resize(size);
  return packed;
}

// The bytes of each pixel, one row after the other, and the palette that they are numbers in;
// without a palette they are the colours themselves.
struct Pixels {
  std::string bytes, palette;
};

std::string Rows(const Image& image, const std::string& pixels) {
  std::string rows;
  const std::size_t row_bytes = pixels.size() / static_cast<std::size_t>(image.height_px);
  for (std::size_t at = 0; at < pixels.size(); at += row_bytes) {
    rows += kNoFilter;
    rows.append(pixels, at, row_bytes);
  }
  return rows;
}

Pixels PixelsOf(const Image& image) {
  Pixels numbered;
  std::unordered_map<std::uint32_t, std::size_t> numbers;
  for (std::size_t at = 0; at < image.rgb.size(); at += 3) {
    const std::uint32_t colour =
        image.rgb[at] << 16U | image.rgb[at + 1] << 8U | std::uint32_t{image.rgb[at + 2]};
    const auto [found, is_new] = numbers.emplace(colour, numbers.size());
    if (is_new)
      numbered.palette.append(image.rgb.begin() + static_cast<std::ptrdiff_t>(at),
                              image.rgb.begin() + static_cast<std::ptrdiff_t>(at) + 3);
    if (numbers.size() > kMostInPalette) return {{image.rgb.begin(), image.rgb.end()}, ""};
    numbered.bytes += static_cast<char>(found->second);
  }
  return numbered;
}

}  // namespace

std::string EncodePng(const Image& image) {
  const Pixels pixels = PixelsOf(image);
  std::string header;
  AppendNumber(header, static_cast<std::size_t>(image.width_px));
  AppendNumber(header, static_cast<std::size_t>(image.height_px));
  header += {8, pixels.palette.empty() ? kTrueColour : kPalette, 0, 0, 0};
  std::string png = "\x89PNG\r\n\x1a\n";
  AppendChunk(png, "IHDR", header);
  if (!pixels.palette.empty()) AppendChunk(png, "PLTE", pixels.palette);
  AppendChunk(png, "IDAT", Compress(Rows(image, pixels.bytes)));
  AppendChunk(png, "IEND", "");
  return png;
}

Status WritePng(const std::string& path, const Image& image) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << EncodePng(image) << std::flush;
  if (file.good()) return Done{};
  return Error{path + ": cannot be written. Check that the folder exists and may be written to."};
}

}  // namespace traceinject
