// SPDX-License-Identifier: Apache-2.0
// The shapes of attention calls, by number. A call's event carries only the number: the shape is
// here before the number is given out, on whatever thread the call is made.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace traceinject {

class AttentionShapes {
 public:
  static constexpr std::int64_t kMax = 65536;
  // Those of attention_shape in run_db.sql after its id; -1: unknown.
  using Columns = std::array<std::int64_t, 10>;

  // The number, from 1; 0: there is no room for another. O(1), takes no lock.
  std::int64_t Add(const Columns& shape) {
    if (count_.load(std::memory_order_relaxed) >= kMax) return 0;
    const std::int64_t index = count_.fetch_add(1, std::memory_order_relaxed);
    if (index >= kMax) return 0;
    shapes_[static_cast<std::size_t>(index)] = shape;
    return index + 1;
  }

  // Of a number that came with an event; empty: it was never given out.
  std::optional<Columns> Get(std::int64_t number) const {
    if (number < 1 || number > kMax || number > count_.load(std::memory_order_relaxed))
      return std::nullopt;
    return shapes_[static_cast<std::size_t>(number - 1)];
  }

 private:
  std::atomic<std::int64_t> count_{0};
  Columns shapes_[kMax]{};  // takes memory as it is used
};

// One set a process.
inline constinit AttentionShapes g_attention_shapes;

}  // namespace traceinject
