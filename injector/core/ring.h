// SPDX-License-Identifier: Apache-2.0
// Event queues from the program's threads to the writer thread: one single-producer,
// single-consumer byte ring a thread.
//
// A producer never blocks, locks or allocates from the heap: a thread's ring is mapped at its first
// event, an event that does not fit is dropped and counted. When a thread ends, its ring is drained
// and handed to the next new thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "injector/core/wake.h"

namespace traceinject {

// In front of every event. `size` covers the header and is a multiple of 8; type 0 is padding up to
// the end of the ring.
struct EventHeader {
  std::uint32_t size;
  std::uint16_t type;
  std::uint16_t flags;
  std::int64_t time_ns;  // CLOCK_REALTIME
};
static_assert(sizeof(EventHeader) == 16);

class Ring {
 public:
  static constexpr std::size_t kBytes = 1 << 20;

  // Producer: room for an event of `size` bytes (a multiple of 8, header included), or null when
  // the ring is full. The event becomes visible by Publish(). O(1).
  void* Reserve(std::uint32_t size);
  // Wakes the writer when the ring got half full, so that bursts need not wait for the next flush.
  void Publish(Wake* wake);

  // Consumer: calls visit(const EventHeader&) for each event that was published before the call.
  // O(events).
  template <typename Visit>
  void Drain(Visit visit) {
    std::uint64_t read = read_.load(std::memory_order_relaxed);
    const std::uint64_t written = written_.load(std::memory_order_acquire);
    while (read != written) {
      const auto* event = reinterpret_cast<const EventHeader*>(data() + read % kBytes);
      const std::uint32_t size = event->size;
      if (event->type != 0) visit(*event);
      read += size;
    }
    read_.store(read, std::memory_order_release);
  }

  bool empty() const {
    return read_.load(std::memory_order_relaxed) == written_.load(std::memory_order_acquire);
  }

 private:
  friend class RingSet;
  std::byte* data() const { return data_.load(std::memory_order_relaxed); }

  std::atomic<std::byte*> data_{nullptr};  // set once, before the first event
  std::uint64_t reserved_ = 0;  // producer's own: end of the event that Publish() will show
  alignas(64) std::atomic<std::uint64_t> written_{0};
  alignas(64) std::atomic<std::uint64_t> read_{0};
};

// All rings of the process.
class RingSet {
 public:
  static constexpr int kMost = 1024;

  struct Slot {
    Ring ring;
    // Who writes: the thread's id, from the moment it took the slot until the writer found it gone
    // and the ring empty. 0 with a mapped ring: free to take.
    std::atomic<int> tid{0};
    std::atomic<bool> abandoned{false};  // the thread ended
  };

  // The calling thread's ring; null when it cannot have one. The first call of a thread maps
  // memory.
  Ring* OfThisThread();

  // Writer: visit(slot_index, tid, EventHeader) for everything published; done(slot_index) when a
  // thread's last event was seen.
  template <typename Visit, typename Done>
  void DrainAll(Visit visit, Done done) {
    const int count = used_.load(std::memory_order_acquire);
    for (int i = 0; i < count; ++i) {
      Slot& slot = slots_[i];
      const int tid = slot.tid.load(std::memory_order_acquire);
      if (tid == 0) continue;
      const bool abandoned = slot.abandoned.load(std::memory_order_acquire);
      slot.ring.Drain([&](const EventHeader& event) { visit(i, tid, event); });
      if (abandoned) {  // read before draining: nothing can follow
        done(i);
        slot.abandoned.store(false, std::memory_order_relaxed);
        slot.tid.store(0, std::memory_order_release);
      }
    }
  }

 private:
  Slot* Take(int tid);
  static void OnThreadExit(void* slot);

  Slot slots_[kMost];
  std::atomic<int> used_{0};
};

extern RingSet g_rings;
extern Wake g_wake;

}  // namespace traceinject
