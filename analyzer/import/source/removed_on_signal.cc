// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/removed_on_signal.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace traceinject {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
constexpr std::string_view kJournal = "-journal";

// Keeps these signals from this thread; another one may take them meanwhile.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : kSignals) sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

// What a signal handler may look at: it can neither allocate nor lock.
struct RemovedOnSignal::Slot {
  // kMaking: by a thread that takes no signals meanwhile, so that a handler can wait for it.
  enum State : int { kFree, kMaking, kUsed, kRemoved };
  std::atomic<int> state{kFree};
  std::array<char, PATH_MAX> path, journal;
};

// A list that grows and is never freed: a handler may walk it at any time.
struct RemovedOnSignal::Slots {
  std::array<Slot, 16> slots;
  std::atomic<Slots*> next{nullptr};

  Slot* Take() {
    for (Slot& slot : slots) {
      int free = Slot::kFree;
      if (slot.state.compare_exchange_strong(free, Slot::kMaking)) return &slot;
    }
    return AfterThese().Take();
  }
  Slots& AfterThese() {
    Slots* after = next;
    if (after != nullptr) return *after;
    auto added = std::make_unique<Slots>();
    return next.compare_exchange_strong(after, added.get()) ? *added.release() : *after;
  }
};

RemovedOnSignal::Slots RemovedOnSignal::first_slots_;
std::atomic<bool> RemovedOnSignal::ending_{false};

void RemovedOnSignal::Remove(int signal) {
  const int saved_errno = errno;
  ending_ = true;
  for (Slots* some = &first_slots_; some != nullptr; some = some->next) {
    for (Slot& slot : some->slots) {
      while (slot.state == Slot::kMaking) sched_yield();
      int used = Slot::kUsed;
      if (!slot.state.compare_exchange_strong(used, Slot::kRemoved)) continue;
      unlink(slot.path.data());
      unlink(slot.journal.data());
    }
  }
  errno = saved_errno;
  // The handler is reset (SA_RESETHAND) and the signal blocked until it returns.
  raise(signal);
}

void RemovedOnSignal::WatchSignals() {
  for (const int signal : kSignals) {
    struct sigaction current = {};
    if (sigaction(signal, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) continue;
    struct sigaction ours = {};
    ours.sa_handler = Remove;
    ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigemptyset(&ours.sa_mask);
    sigaction(signal, &ours, nullptr);
  }
}

int RemovedOnSignal::Make(std::string& name) {
  if (name.size() + kJournal.size() >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return -1;
  }
  WatchSignals();
  const SignalsHeld held;
  Slot& slot = *first_slots_.Take();
  // Once a handler looks at the slots, no other thread is to make another file.
  const int fd = ending_ ? -1 : mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) {
    slot.state = Slot::kFree;
    return fd;
  }
  std::strcpy(slot.path.data(), name.c_str());
  std::strcpy(slot.journal.data(), (name + std::string(kJournal)).c_str());
  slot.state = Slot::kUsed;
  slot_ = &slot;
  return fd;
}

void RemovedOnSignal::Keep() {
  int used = Slot::kUsed;
  if (slot_ != nullptr) slot_->state.compare_exchange_strong(used, Slot::kFree);
  slot_ = nullptr;
}

}  // namespace traceinject
