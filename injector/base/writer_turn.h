// SPDX-License-Identifier: Apache-2.0
// Whose turn it is to work on what the writer has: its thread's, always, but while that is in a
// call into CUPTI. Such a call may never return, as that waits for a lock of CUDA which a thread of
// the program may hold until the GPU is idle; then a thread that looks on takes the turn.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace traceinject {

class WriterTurn {
 public:
  // Of the writer thread, around all that it does (std::lock_guard).
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  // Of the writer thread, which holds the turn: gives it up for a call into CUPTI. What that call
  // works on is used by nobody else.
  class Outside {
   public:
    explicit Outside(WriterTurn* turn) : turn_(turn) {
      turn_->call_.store(++turn_->calls_);
      turn_->unlock();
    }
    ~Outside() {
      turn_->lock();
      turn_->call_.store(0);
    }
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

   private:
    WriterTurn* turn_;
  };

  // Whether the writer is outside. Any thread.
  bool IsGivenUp() const { return call_.load() != 0; }

  // Of the one thread that looks on, now and then: calls `go_on` with the turn where the writer was
  // in the same call at `looks` looks in a row, and at every look from then on. go_on(first):
  // whether it is the first time in that call. Looks and not a time, which goes on while a process
  // is stopped.
  template <typename GoOn>
  void Look(std::int64_t looks, const GoOn& go_on) {
    const std::uint64_t call = call_.load();
    seen_ = call != 0 && call == seen_in_ ? seen_ + 1 : 1;
    seen_in_ = call;
    if (call == 0 || seen_ < looks) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || call_.load() != call) return;  // it came back
    go_on(taken_in_ != call);
    taken_in_ = call;
  }

 private:
  std::mutex mutex_;
  std::uint64_t calls_ = 0;             // so far
  std::atomic<std::uint64_t> call_{0};  // the one that the writer is in; 0: none
  // Of the thread that looks on: the call at its last look, how often in a row that was seen, and
  // the call in which it took the turn last.
  std::uint64_t seen_in_ = 0, taken_in_ = 0;
  std::int64_t seen_ = 0;
};

}  // namespace traceinject
