// SPDX-License-Identifier: Apache-2.0
#include "analyzer/mpi/packing.h"

#include <cstddef>

namespace traceinject {

void Packer::Number(std::uint64_t number) {
  for (int i = 0; i < 8; ++i)
    packed_ += static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
}

void Packer::Text(std::string_view text) {
  Number(text.size());
  packed_ += text;
}

std::uint64_t Unpacker::Number() {
  ok_ = ok_ && rest_.size() >= 8;
  if (!ok_) return 0;
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i)
    number |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
  rest_.remove_prefix(8);
  return number;
}

std::string Unpacker::Text() {
  const std::uint64_t length = Number();
  ok_ = ok_ && length <= rest_.size();
  if (!ok_) return {};
  std::string text(rest_.substr(0, length));
  rest_.remove_prefix(length);
  return text;
}

}  // namespace traceinject
