// SPDX-License-Identifier: Apache-2.0
// Chance by place: the same place gives the same draw, whatever was drawn before.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>

namespace traceinject {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : seed_(seed) {}

  // In [0, 1).
  double Uniform(std::initializer_list<std::uint64_t> place) const {
    return static_cast<double>(Bits(place) >> 11) * 0x1p-53;
  }
  // In [-1, 1).
  double Signed(std::initializer_list<std::uint64_t> place) const { return 2 * Uniform(place) - 1; }
  // Of mean 0 and standard deviation 1, never beyond 3.5: the sum of four uniform draws.
  double Bell(std::initializer_list<std::uint64_t> place) const {
    std::uint64_t bits = Bits(place);
    double sum = 0;
    for (int i = 0; i < 4; ++i, bits >>= 16) sum += static_cast<double>(bits & 0xffff) / 65536;
    return (sum - 2) * std::sqrt(3.0);
  }
  std::uint64_t Bits(std::initializer_list<std::uint64_t> place) const {
    std::uint64_t bits = Mix(seed_ + 0x9e3779b97f4a7c15u);
    for (const std::uint64_t part : place) bits = Mix(bits ^ (part + 0x9e3779b97f4a7c15u));
    return bits;
  }

 private:
  // The finaliser of SplitMix64.
  static std::uint64_t Mix(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
  }

  std::uint64_t seed_;
};

}  // namespace traceinject
