// SPDX-License-Identifier: Apache-2.0
#include "injector/tries/tried.h"

#include <unistd.h>

#include <atomic>
#include <mutex>

#include "schemas/try_levers.h"

namespace traceinject {
namespace {

struct TriedLever {
  TryWish wish;
  long times = 0;
  std::string text;
  bool is_new = true;
};

struct TriedLevers {
  const pid_t process = getpid();
  std::mutex mutex;
  std::vector<TriedLever> levers;
};

// Never destroyed: what tells of them may run while the process ends.
constinit std::atomic<TriedLevers*> g_tried{nullptr};

// Null: nothing was asked for, or this is a child, in which another thread's lock would stay.
TriedLevers* TriedHere() {
  TriedLevers* const tried = g_tried.load(std::memory_order_acquire);
  return tried != nullptr && tried->process == getpid() ? tried : nullptr;
}

SystemFactRow RowOf(const TriedLever& lever) {
  const std::string kind(kTryFact);
  if (lever.times == 0) return {kind, lever.wish.text(), {}, lever.text};
  return {kind, lever.wish.text(), std::to_string(lever.times) + ": " + lever.text, {}};
}

}  // namespace

void ExpectTries(std::vector<TryWish> wishes) {
  auto* const tried = new TriedLevers;
  for (TryWish& wish : wishes)
    tried->levers.push_back({std::move(wish), 0, "nothing that it is about was seen", true});
  g_tried.store(tried, std::memory_order_release);
}

void TellTried(std::string_view lever, long times, std::string text) {
  TriedLevers* const tried = TriedHere();
  if (tried == nullptr) return;
  const std::lock_guard lock(tried->mutex);
  for (TriedLever& known : tried->levers) {
    if (known.wish.lever != lever) continue;
    known.times = times;
    known.text = std::move(text);
    known.is_new = true;
    return;
  }
}

std::vector<SystemFactRow> TakeTried() {
  std::vector<SystemFactRow> rows;
  TriedLevers* const tried = TriedHere();
  if (tried == nullptr) return rows;
  const std::lock_guard lock(tried->mutex);
  for (TriedLever& lever : tried->levers) {
    if (lever.is_new) rows.push_back(RowOf(lever));
    lever.is_new = false;
  }
  return rows;
}

}  // namespace traceinject
