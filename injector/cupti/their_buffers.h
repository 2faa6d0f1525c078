// SPDX-License-Identifier: Apache-2.0
// The activity buffers that another client of CUPTI lent (shared_session.h). To it a flush of ours
// is one that nobody asked for. PyTorch's profiler asks for its records at the end of a session
// only if CUPTI has a buffer of it still (CuptiActivityApi::activityBuffers), which without us is
// always so: where ours brought all of them back, its trace was empty. So the last one is kept that
// comes back before the client flushes itself: in a flush of ours, or later, as one does that our
// flush found work in which was not done.
//
// Called where buffers are asked for and come back: takes no lock, does not allocate.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace traceinject {

class TheirBuffers {
 public:
  // What its callback is to be given.
  struct Completed {
    CUcontext context = nullptr;
    std::uint32_t stream = 0;
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, valid_bytes = 0;
  };

  void Lent() {
    flushed_.store(false, std::memory_order_release);
    out_.fetch_add(1, std::memory_order_acq_rel);
  }
  // Whether the client waits for any.
  bool AreOut() const { return out_.load(std::memory_order_acquire) > 0; }

  // False: it is kept, and not to be handed over now.
  bool CameBack(const Completed& completed) {
    const bool as_without_us =
        asked_.load(std::memory_order_acquire) || !flushed_.load(std::memory_order_acquire);
    if (CountOff(as_without_us ? 0 : 1)) return true;
    if (!AreOut()) return true;  // it was not expected any more
    kept_ = completed;           // no other is: that would be out, too
    has_kept_.store(true, std::memory_order_release);
    return false;
  }
  // To be handed over, before a flush of the client's.
  std::optional<Completed> TakeKept() {
    if (!has_kept_.exchange(false, std::memory_order_acq_rel)) return std::nullopt;
    CountOff(0);
    return kept_;
  }
  // Those that did not come back do not come any more.
  void Forget() {
    has_kept_.store(false, std::memory_order_release);
    out_.store(0, std::memory_order_release);
  }

  // Before a flush of ours. One that is lent later and comes back by itself, as that of a thread
  // that ends does, would without us, too.
  void NoteOurFlush() { flushed_.store(true, std::memory_order_release); }
  // Whether the client asked for all of them: in a flush of its own, and after one that it ended a
  // session with, until the next session. None is kept then.
  void SetAsked(bool asked) { asked_.store(asked, std::memory_order_release); }

 private:
  // False: no more than `least` are out. Several threads may bring some back at a time.
  bool CountOff(int least) {
    int out = out_.load(std::memory_order_relaxed);
    while (out > least) {
      if (out_.compare_exchange_weak(out, out - 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }

  std::atomic<int> out_{0};  // the one that is kept included
  std::atomic<bool> asked_{false};
  std::atomic<bool> flushed_{false};  // by us, since the last was lent
  std::atomic<bool> has_kept_{false};
  Completed kept_;
};

}  // namespace traceinject
