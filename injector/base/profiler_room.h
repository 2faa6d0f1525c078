// SPDX-License-Identifier: Apache-2.0
// A profiler that the program is about to start takes CUPTI's records for itself, and no wrapper
// sees it (Triton's Proton). Who starts it asks for room; the writer thread makes it, or says that
// it cannot, as another client is there.
#pragma once

#include <atomic>

#include "injector/base/ring.h"

namespace traceinject {

class ProfilerRoom {
 public:
  enum class Answer : int { kNone, kMade, kRefused };

  // On any thread, again until there is an answer; `wanted` false: it is done. Returns at once.
  Answer Ask(bool wanted) {
    if (wanted_.exchange(wanted) != wanted) {
      answer_.store(Answer::kNone);
      g_wake.Post();
    }
    return answer_.load();
  }

  // The writer's side.
  bool wanted() const { return wanted_.load(); }
  bool awaits_answer() const { return wanted() && answer_.load() == Answer::kNone; }
  void Reply(Answer answer) { answer_.store(answer); }

 private:
  std::atomic<bool> wanted_{false};
  std::atomic<Answer> answer_{Answer::kNone};
};

inline constinit ProfilerRoom g_profiler_room;

}  // namespace traceinject
