// SPDX-License-Identifier: Apache-2.0
// Numbers of the shapes of attention calls (attention_shapes.h) by what a call is given. A cache:
// of two shapes that fall on the same place, the last one is known.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/python/tensor_reader.h"

namespace traceinject {

struct AttentionCall {
  TensorSizes query, key, value;
  std::uint64_t type = 0;  // as TensorReader tells it
  bool causal = false;
  bool operator==(const AttentionCall&) const = default;
};

// One thread at a time. O(1).
class KnownShapes {
 public:
  static constexpr std::size_t kPlaces = 4096;

  // 0: not known.
  std::int64_t Find(const AttentionCall& call) const {
    const Place& place = places_[PlaceOf(call)];
    return place.call == call ? place.number : 0;
  }
  void Add(const AttentionCall& call, std::int64_t number) {
    places_[PlaceOf(call)] = {call, number};
  }

 private:
  struct Place {
    AttentionCall call;
    std::int64_t number = 0;
  };

  static std::size_t PlaceOf(const AttentionCall& call) {
    std::uint64_t hash = call.type * 2 + (call.causal ? 1 : 0);
    const auto mix = [&](std::uint64_t value) {
      hash = (hash ^ value) * 0x9E3779B97F4A7C15;
      hash ^= hash >> 32;
    };
    for (const TensorSizes* sizes : {&call.query, &call.key, &call.value}) {
      for (std::int64_t i = 0; i < sizes->dimensions; ++i)
        mix(static_cast<std::uint64_t>(sizes->of[static_cast<std::size_t>(i)]));
    }
    return hash % kPlaces;
  }

  Place places_[kPlaces]{};  // takes memory as it is used
};

}  // namespace traceinject
