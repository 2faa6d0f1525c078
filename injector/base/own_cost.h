// SPDX-License-Identifier: Apache-2.0
// What the library costs the program's threads, measured by itself: of every kEvery-th event of a
// thread, the time in our code, without the call of the program's that it wraps. The counter gets
// kEvery times that, so that it estimates the time of all events. The other events pay for a
// countdown.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#include "injector/base/clock.h"
#include "injector/base/counters.h"

namespace traceinject {

class OwnCost {
 public:
  static constexpr unsigned kEvery = 61;  // a prime: programs repeat themselves

  // `counter`: of ns.
  explicit OwnCost(Health counter) : counter_(counter) {
    if (t_left > 1) {
      --t_left;
      return;
    }
    is_sample_ = t_left == 1;
    // Threads begin to count at different numbers: those of few events have samples, too.
    t_left = is_sample_ ? kEvery : 1 + g_threads.fetch_add(1, std::memory_order_relaxed) % kEvery;
    if (is_sample_) Begin();
  }
  ~OwnCost() {
    if (is_sample_) End();
  }
  OwnCost(const OwnCost&) = delete;
  OwnCost& operator=(const OwnCost&) = delete;

  // Around the program's own call.
  void Leave() {
    if (is_sample_) spent_ns_ += Now() - since_ns_ - clock_ns_;
  }
  void Enter() {
    if (is_sample_) since_ns_ = Now();
  }

 private:
  // Of one that took longer, or whose clock did, the thread had lost its processor.
  static constexpr std::int64_t kMaxNs = 1'000'000, kMaxClockNs = 5'000;

  static std::int64_t Now() { return ReadClockNs(CLOCK_MONOTONIC); }
  void Begin() {
    const std::int64_t before_ns = Now();
    since_ns_ = Now();
    clock_ns_ = since_ns_ - before_ns;
  }
  void End() {
    Leave();
    // Below 0 is as likely as too much above: the clock's own time varies.
    if (spent_ns_ > kMaxNs || clock_ns_ > kMaxClockNs) return;
    g_counters.Add(counter_, spent_ns_ * kEvery);
    g_counters.Add(Health::kOwnSamples);
  }

  static constinit thread_local unsigned t_left;  // events until the next sample; 0: none yet
  static constinit std::atomic<unsigned> g_threads;

  Health counter_;
  bool is_sample_ = false;
  std::int64_t spent_ns_ = 0, since_ns_ = 0, clock_ns_ = 0;
};

inline thread_local constinit unsigned OwnCost::t_left = 0;
inline constinit std::atomic<unsigned> OwnCost::g_threads{0};

}  // namespace traceinject
