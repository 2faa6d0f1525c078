// SPDX-License-Identifier: Apache-2.0
#include "analyzer/http/gzip_text.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace traceinject {
namespace {

// "As gzip" in the arguments of deflateInit2.
constexpr int kWindow = 15 + 16, kMemory = 8;

}  // namespace

std::string GzipText(std::string_view text) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string packed;
  constexpr std::size_t kMostAtOnce = std::numeric_limits<uInt>::max() / 2;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    const std::string_view piece = text.substr(0, kMostAtOnce);
    text.remove_prefix(piece.size());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    const std::size_t before = packed.size();
    packed.resize(before + deflateBound(&stream, static_cast<uLong>(piece.size())));
    stream.next_out = reinterpret_cast<Bytef*>(packed.data() + before);
    stream.avail_out = static_cast<uInt>(packed.size() - before);
    state = deflate(&stream, text.empty() ? Z_FINISH : Z_NO_FLUSH);
    packed.resize(packed.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return packed;
}

}  // namespace traceinject
