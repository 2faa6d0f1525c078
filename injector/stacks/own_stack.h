// SPDX-License-Identifier: Apache-2.0
// The calling thread's own stack, at calls that a wrapper sees: exact, since a thread that is in
// such a call cannot change its frames. Of Python it goes into the thread's ring as addresses; in
// processes without, the stack of machine code goes there as a copy (stack_copy.h). Names are
// looked up by the writer. No lock of the interpreter, no allocation, and a share of the thread's
// time that is bounded: kOwnShare of it for calls that wait, and as much for launches.
#pragma once

#include <atomic>
#include <cstdint>

#include "injector/base/clock.h"
#include "injector/base/sources.h"
#include "injector/stacks/python_process.h"

namespace traceinject {

// How the frames of this process are read, once it is known that they can be. Never freed.
struct OwnStacks {
  PythonSymbols symbols;
  PythonLayout layout;
};
inline constinit std::atomic<const OwnStacks*> g_own_stacks{nullptr};

// Whether stacks of machine code are taken: once it is known that the process runs no Python.
inline constinit std::atomic<bool> g_takes_native_stacks{false};

// What a thread may spend: one part in so many of its time.
inline constexpr std::int64_t kOwnShare = 1000;

// Time for stacks that a thread saves up, and spends.
class StackBudget {
 public:
  // Whether there is some left at `now`. A thread begins with what many first stacks take.
  bool HasSome(std::int64_t now_ns) {
    if (since_ns_ == 0) since_ns_ = now_ns;
    const std::int64_t earned = (now_ns - since_ns_) / kOwnShare;
    since_ns_ += earned * kOwnShare;
    left_ns_ = left_ns_ + earned < kMaxNs ? left_ns_ + earned : kMaxNs;
    return left_ns_ > 0;
  }
  void Spend(std::int64_t ns) { left_ns_ -= ns < kMaxNs ? ns : kMaxNs; }

 private:
  static constexpr std::int64_t kMaxNs = 5'000'000;

  std::int64_t since_ns_ = 0, left_ns_ = kMaxNs;
};

// A call of a thread that waited at least so long has its stack taken, while there is budget.
inline constexpr std::int64_t kLeastWaitNs = 50'000;

// After a call of the calling thread that waited, or took memory.
void NoteOwnWait(std::int64_t start_ns, std::int64_t end_ns);

// Which launches of the calling thread have their stack taken: many of the first, then some.
class LaunchTurn {
 public:
  // Most calls: a countdown and nothing else.
  bool IsDue() { return --left_ <= 0; }
  // Of one that is due; the call then is made, and TakeStack() called. False: nothing is wanted.
  bool Begin();
  void TakeStack(std::int64_t start_ns, std::int64_t end_ns);

 private:
  void Rest(std::int64_t now_ns, std::int64_t cost_ns);

  int left_ = 0;
  int span_ = 1;              // launches since the last one that was due
  std::int64_t last_ns_ = 0;  // when that was
  int firsts_ = 512;
  std::uint32_t random_ = 2463534242;
};

inline thread_local constinit LaunchTurn t_launch_turn{};

// Makes a call that launches work.
template <typename Call>
auto WithLaunchStack(Call call) {
  if (!t_launch_turn.IsDue() || !t_launch_turn.Begin()) return call();
  const std::int64_t start = NowNs();
  const auto result = call();
  t_launch_turn.TakeStack(start, NowNs());
  return result;
}

// Makes a call that may wait.
template <typename Call>
auto WithWaitStack(Call call) {
  if (!Delivers(Source::kStacks)) return call();
  const std::int64_t start = NowNs();
  const auto result = call();
  const std::int64_t end = NowNs();
  if (end - start >= kLeastWaitNs) NoteOwnWait(start, end);
  return result;
}

}  // namespace traceinject
