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

#include "injector/base/wake.h"

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
  void* Reserve(std::uint32_t size) {
    const std::uint64_t written = written_.load(std::memory_order_relaxed);
    const std::size_t offset = written % kBytes;
    const std::size_t padding = offset + size > kBytes ? kBytes - offset : 0;
    if (written + padding + size - read_seen_ > kBytes) {
      read_seen_ = read_.load(std::memory_order_acquire);
      if (written + padding + size - read_seen_ > kBytes) return nullptr;
    }
    if (padding != 0) {
      // Only the size and type of a padding event are read, and 8 bytes are always there: sizes are
      // multiples of 8.
      auto* pad = reinterpret_cast<EventHeader*>(data() + offset);
      pad->size = static_cast<std::uint32_t>(padding);
      pad->type = 0;
    }
    reserved_ = written + padding + size;
    return data() + (written + padding) % kBytes;
  }
  // Producer: whether so much is free that a large event leaves enough for others. O(1).
  bool IsHalfEmpty() {
    read_seen_ = read_.load(std::memory_order_acquire);
    return written_.load(std::memory_order_relaxed) - read_seen_ <= kBytes / 2;
  }
  // Producer: brings what the next event will be written to into the cache, while the program's
  // call that it tells of still runs. A launch that follows would wait for these lines: its
  // doorbell is a store, too, and stores take effect in their order.
  void Prefetch() const {
    const std::byte* next = data() + written_.load(std::memory_order_relaxed) % kBytes;
    __builtin_prefetch(next, 1);
    __builtin_prefetch(next + 64, 1);
  }
  // Wakes the writer when the ring got half full, so that bursts need not wait for the next flush.
  void Publish(Wake* wake) {
    const std::uint64_t before = written_.load(std::memory_order_relaxed);
    written_.store(reserved_, std::memory_order_release);
    if (reserved_ - read_seen_ < kBytes / 2) return;
    read_seen_ = read_.load(std::memory_order_acquire);
    if (before - read_seen_ < kBytes / 2 && reserved_ - read_seen_ >= kBytes / 2) wake->Post();
  }

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

  // The producer's, in one cache line: events come far between, and each line that is not at hand
  // costs as much as the rest of an event.
  alignas(64) std::atomic<std::byte*> data_{nullptr};  // set once, before the first event
  std::uint64_t reserved_ = 0;                         // end of the event that Publish() will show
  std::uint64_t read_seen_ = 0;  // at most read_: looked at again where it matters
  std::atomic<std::uint64_t> written_{0};
  alignas(64) std::atomic<std::uint64_t> read_{0};  // the consumer's
};

// Of a call that does not return no event tells: what a thread waits in, for the writer to look at.
// Plain stores of the thread that waits; a glimpse of two calls at once does no harm.
class OpenWait {
 public:
  void Begin(int kind, std::int64_t since_ns) {
    kind_.store(kind, std::memory_order_relaxed);
    since_ns_.store(since_ns, std::memory_order_relaxed);
  }
  void End() { since_ns_.store(0, std::memory_order_relaxed); }

  std::int64_t since_ns() const { return since_ns_.load(std::memory_order_relaxed); }  // 0: none
  int kind() const { return kind_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> since_ns_{0};  // CLOCK_REALTIME
  std::atomic<int> kind_{0};
};

// All rings of the process.
class RingSet {
 public:
  static constexpr int kMax = 1024;

  struct Slot {
    Ring ring;
    OpenWait wait;
    // Who writes: the thread's id, from the moment it took the slot until the writer found it gone
    // and the ring empty. 0 with a mapped ring: free to take.
    std::atomic<int> tid{0};
    std::atomic<bool> abandoned{false};  // the thread ended
  };

  // The calling thread's ring; null when it cannot have one. The first call of a thread maps
  // memory.
  Ring* OfThisThread() { return t_slot != nullptr ? &t_slot->ring : OpenForThisThread(); }

  // The calling thread's; null when it cannot have a ring.
  OpenWait* WaitOfThisThread() { return OfThisThread() == nullptr ? nullptr : &t_slot->wait; }

  // Ring::Prefetch() of the calling thread's ring, if it has one.
  void Prefetch() const {
    if (t_slot != nullptr) t_slot->ring.Prefetch();
  }

  // Writer: visit(tid, since_ns, kind) for each thread that waits at this moment.
  template <typename Visit>
  void ForEachWait(Visit visit) const {
    const int count = used_.load(std::memory_order_acquire);
    for (int i = 0; i < count; ++i) {
      const Slot& slot = slots_[i];
      const int tid = slot.tid.load(std::memory_order_acquire);
      const std::int64_t since_ns = slot.wait.since_ns();
      if (tid != 0 && since_ns != 0) visit(tid, since_ns, slot.wait.kind());
    }
  }

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
  static constinit thread_local Slot* t_slot;  // `constinit` here, too: no wrapper around each use

  Ring* OpenForThisThread();
  Slot* Take(int tid);
  static bool WatchThisThread(Slot* slot);
  static void OnThreadExit(void* slot);

  Slot slots_[kMax];
  std::atomic<int> used_{0};
};

inline thread_local constinit RingSet::Slot* RingSet::t_slot = nullptr;

extern RingSet g_rings;
extern Wake g_wake;

}  // namespace traceinject
