// SPDX-License-Identifier: Apache-2.0
#include "injector/base/ring.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injector/base/counters.h"

namespace traceinject {

constinit RingSet g_rings;
constinit Wake g_wake;

namespace {

// A failure is counted once and not tried again.
thread_local constinit bool t_refused = false;

pthread_key_t g_exit_key;
bool g_has_exit_key = false;
pthread_once_t g_exit_key_once = PTHREAD_ONCE_INIT;

}  // namespace

// Whether OnThreadExit will be called for this thread. The program may have used up the keys that
// there are, or the memory for them.
bool RingSet::WatchThisThread(Slot* slot) {
  pthread_once(&g_exit_key_once, [] {
    g_has_exit_key = pthread_key_create(&g_exit_key, &RingSet::OnThreadExit) == 0;
  });
  return g_has_exit_key && pthread_setspecific(g_exit_key, slot) == 0;
}

Ring* RingSet::OpenForThisThread() {
  if (t_refused) return nullptr;
  Slot* slot = Take(static_cast<int>(syscall(SYS_gettid)));
  if (slot != nullptr && !WatchThisThread(slot)) {
    slot->abandoned.store(true, std::memory_order_release);
    slot = nullptr;
  }
  if (slot == nullptr) {
    t_refused = true;
    g_counters.Add(Health::kRingsRefused);
    return nullptr;
  }
  g_counters.Add(Health::kRingsOpened);
  t_slot = slot;
  return &slot->ring;
}

RingSet::Slot* RingSet::Take(int tid) {
  // A slot whose thread is gone, then a fresh one.
  const int used = used_.load(std::memory_order_acquire);
  for (int i = 0; i < used; ++i) {
    int free = 0;
    if (slots_[i].ring.data_.load(std::memory_order_acquire) != nullptr &&
        slots_[i].tid.compare_exchange_strong(free, tid, std::memory_order_acq_rel)) {
      return &slots_[i];
    }
  }
  void* memory =
      mmap(nullptr, Ring::kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  int index = used;
  do {
    if (index >= kMax) {
      munmap(memory, Ring::kBytes);
      return nullptr;
    }
  } while (!used_.compare_exchange_weak(index, index + 1, std::memory_order_acq_rel));
  Slot& slot = slots_[index];
  // In this order: a mapped ring without a thread is free, and another thread would take it, too.
  slot.tid.store(tid, std::memory_order_relaxed);
  slot.ring.data_.store(static_cast<std::byte*>(memory), std::memory_order_release);
  return &slot;
}

void RingSet::OnThreadExit(void* slot) {
  t_slot = nullptr;
  t_refused = true;  // destructors that run after this one may still emit events: they are dropped
  static_cast<Slot*>(slot)->wait.End();  // it was cancelled in it
  static_cast<Slot*>(slot)->abandoned.store(true, std::memory_order_release);
}

}  // namespace traceinject
