// SPDX-License-Identifier: Apache-2.0
// Buffers for CUPTI where the pool has none left and CUPTI must not be refused one: what is written
// there is lost. Each request gets memory of its own, since CUPTI fills buffers on several threads
// and reads what it wrote. Lock-free; O(buffers that are out).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace traceinject {

class DiscardedBuffers {
 public:
  static constexpr std::size_t kBytes = 64 << 10;
  static constexpr std::size_t kMax = 1024;

  // By malloc, as those of the pool, and for the same reason (buffer_pool.h). Where there is no
  // memory, or too many are out, it is `kBytes` that all share, as null would end the program.
  std::uint8_t* Lend() {
    auto* buffer = static_cast<std::uint8_t*>(std::malloc(kBytes));
    if (buffer == nullptr) return shared_;
    for (auto& place : out_) {
      std::uint8_t* none = nullptr;
      if (place.load(std::memory_order_relaxed) == nullptr &&
          place.compare_exchange_strong(none, buffer, std::memory_order_acq_rel))
        return buffer;
    }
    std::free(buffer);
    return shared_;
  }
  // False: it is none of these.
  bool TakeBack(std::uint8_t* buffer) {
    if (buffer == shared_) return true;
    for (auto& place : out_) {
      std::uint8_t* expected = buffer;
      if (place.load(std::memory_order_relaxed) != buffer ||
          !place.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel))
        continue;
      std::free(buffer);
      return true;
    }
    return false;
  }
  // Nobody else has any.
  void Reclaim() {
    for (auto& place : out_) std::free(place.exchange(nullptr, std::memory_order_acq_rel));
  }
  // Those that are out do not come back: somebody else has them, and frees them perhaps.
  void WriteOff() {
    for (auto& place : out_) place.store(nullptr, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint8_t*> out_[kMax] = {};
  alignas(8) std::uint8_t shared_[kBytes] = {};
};

}  // namespace traceinject
