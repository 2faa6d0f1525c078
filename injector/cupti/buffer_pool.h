// SPDX-License-Identifier: Apache-2.0
// The activity buffers that CUPTI fills. Taking and returning one is lock-free and O(1): CUPTI asks
// on the program's threads.
//
// Buffers are allocated on first need and recycled, so that after a warm-up no page is faulted in
// on a launching thread. By malloc: another client of CUPTI that takes our callbacks
// (unseen_client.h) is handed those of ours that CUPTI has, takes them for its own, and frees them.
// When the pool has reached its limit, Take() returns null and the records that would have gone
// there are lost and counted by the caller.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace traceinject {

class BufferPool {
 public:
  static constexpr std::size_t kBufferBytes = 2 << 20;
  static constexpr int kMax = 4096;
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

  void SetLimit(std::int64_t bytes);
  std::uint8_t* Take();
  void Return(std::uint8_t* buffer);
  // All that are taken are gone for good: somebody else has them, and frees them perhaps. None is
  // taken or returned meanwhile.
  void WriteOff();
  // All that are taken are free again, but for those in `waiting`: nobody else has any. None is
  // taken or returned meanwhile.
  void Reclaim(const std::vector<const std::uint8_t*>& waiting);
  // Whether `buffer` is one of ours.
  bool Owns(const std::uint8_t* buffer) const;
  // A flush begins; a buffer belongs to the latest that had begun when it was taken.
  void MarkFlush(std::int64_t now_ns) { flush_ns_.store(now_ns, std::memory_order_relaxed); }
  // The flush that the one belongs to which has been out longest; kNone: none is. O(buffers).
  std::int64_t OldestFlushNs() const;

 private:
  // -1: the limit is reached.
  int TakeIndex();
  void ReturnIndex(int index);
  int IndexOf(const std::uint8_t* buffer) const;

  // A stack of free buffers: the low half of `free_` is an index + 1 (0: empty), the high half
  // counts changes, so that a buffer that was taken and returned in between (ABA) is noticed.
  std::atomic<std::uint64_t> free_{0};
  std::atomic<std::uint32_t> next_[kMax] = {};
  std::atomic<std::uint8_t*> buffers_[kMax] = {};  // null: could not be allocated yet
  std::atomic<bool> taken_[kMax] = {};
  std::atomic<std::int64_t> flushes_[kMax] = {};  // that they belong to
  std::atomic<std::int64_t> flush_ns_{0};
  std::atomic<int> used_{0};  // indices that were ever taken
  std::atomic<int> in_use_{0};
  int limit_ = 128;
};

}  // namespace traceinject
