// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/bases.h"

#include <zstd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace traceinject {

std::string ReadBase(const std::string& name) {
  const std::string path = std::string(TRACEINJECT_FUZZ_BASES) + "/" + name + ".zst";
  std::ifstream file(path, std::ios::binary);
  const std::string packed((std::istreambuf_iterator<char>(file)), {});
  const auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
    throw std::runtime_error("cannot read " + path);
  std::string bytes(size, '\0');
  if (ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size()) != size)
    throw std::runtime_error("cannot unpack " + path);
  return bytes;
}

}  // namespace traceinject
