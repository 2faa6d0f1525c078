// SPDX-License-Identifier: Apache-2.0
// Marks of the buffers that CUPTI has, by their addresses. Called where buffers are asked for and
// come back: takes no lock, does not allocate. O(slots): that is seldom, a buffer has thousands of
// records.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace traceinject {

class LendTable {
 public:
  static constexpr std::size_t kSlots = 256;

  // Where there is no room it is not kept.
  void Add(const std::uint8_t* buffer, int mark) {
    for (Slot& slot : slots_) {
      std::uintptr_t free = kFree;
      if (!slot.buffer.compare_exchange_strong(free, kClaimed, std::memory_order_acquire)) continue;
      slot.mark = mark;
      slot.buffer.store(reinterpret_cast<std::uintptr_t>(buffer), std::memory_order_release);
      return;
    }
  }

  // The mark of a buffer that came back. Nothing: it was not kept.
  std::optional<int> Take(const std::uint8_t* buffer) {
    for (Slot& slot : slots_) {
      if (slot.buffer.load(std::memory_order_acquire) != reinterpret_cast<std::uintptr_t>(buffer))
        continue;
      const int mark = slot.mark;
      slot.buffer.store(kFree, std::memory_order_release);
      return mark;
    }
    return std::nullopt;
  }

  // None of them comes back any more.
  void Forget() {
    for (Slot& slot : slots_) {
      if (slot.buffer.load(std::memory_order_relaxed) != kClaimed)
        slot.buffer.store(kFree, std::memory_order_release);
    }
  }

 private:
  static constexpr std::uintptr_t kFree = 0, kClaimed = 1;
  struct Slot {
    std::atomic<std::uintptr_t> buffer{kFree};
    int mark = 0;
  };
  Slot slots_[kSlots];
};

}  // namespace traceinject
