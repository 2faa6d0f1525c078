// SPDX-License-Identifier: Apache-2.0
// Python stacks of all threads, many times a second, on a thread of our own
// (TRACEINJECT_STACKS_HZ). The writer starts it, fetches what it took at each flush, and stops it
// before the last one. The program's threads are never asked, held up, or interrupted.
//
// Also what threads tell of their own stacks at calls, in processes without Python those of machine
// code.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "injector/base/events.h"
#include "injector/base/wake.h"
#include "injector/rows/dictionary.h"
#include "injector/rows/rows.h"
#include "injector/stacks/call_join.h"
#include "injector/stacks/native_stacks.h"
#include "injector/stacks/python_children.h"
#include "injector/stacks/python_process.h"
#include "injector/stacks/stack_book.h"

namespace traceinject {

class StackSampler {
 public:
  // stack_sample.kind
  enum Kind : int { kSampled = 1, kWait = 2, kLaunch = 3, kStall = 4 };

  StackSampler(std::int64_t hz, std::int64_t base_ns);
  StackSampler(const StackSampler&) = delete;
  StackSampler& operator=(const StackSampler&) = delete;

  // False: there is no thread.
  bool Start();
  // Ends the thread. Later calls do nothing.
  void Stop() noexcept;

  // A process of the same Python is sampled, too: a data loader's worker. Any thread.
  void AddChild(std::int64_t pid);
  // A stall: where each thread stands goes into the file. Any thread.
  void NoteStall() { is_stalled_.store(true, std::memory_order_relaxed); }

  // Appends what was taken since the last time.
  void Take(Dictionary* dictionary, Batch* batch);

  // A thread's own stack at a call, out of its ring.
  void Decode(int tid, const StackEvent& event, Dictionary* dictionary);
  void Decode(int tid, const NativeStackEvent& event, Dictionary* dictionary);
  // When the writer is awake: code that just began to call CUDA may be gone soon.
  void LookAtCallers();
  // The calls that are about to be stored with the batch may be those of such stacks.
  void JoinCalls(const Batch& batch, Dictionary* dictionary);
  // Appends the stacks that are done; `everything`: all.
  void SettleCalls(std::int64_t now, bool everything, Batch* batch) {
    call_join_.Settle(now, everything, &batch->stack_samples);
  }

  // Why there are no stacks although there is a Python; empty: there are.
  std::string failure();

 private:
  struct Sample {
    std::int64_t time;
    std::int64_t tid;
    std::uint32_t node;
    int kind;
    std::int64_t repeats = 0, span = 0;
  };

  // The native stack of a call, whose functions have no names yet.
  struct NativeCall {
    std::int64_t tid;
    StackSampleRow row;
    std::int64_t end;
    std::vector<std::uint32_t> functions;
  };

  static void* RunThread(void* sampler);

  void Run();
  bool FindPython();
  void TakeNativeStacks();
  bool MayReadMemory();
  NativeStacks& native();
  void NameNativeCalls(Dictionary* dictionary);
  void RenewCalls(Dictionary* dictionary);
  void Fail(const std::string& why);
  bool IsFit();
  void SampleAll();
  void SampleNextChild();
  // False: its stack could not be read.
  bool SampleThread(PythonProcess* process, const PythonThread& thread, int kind);
  std::uint32_t BookStack(const PythonProcess& process);
  bool Repeats(const Sample& sample);
  void Keep(const Sample& sample);
  std::int64_t NextWaitNs(std::int64_t round_ns);

  const std::int64_t hz_, base_ns_;
  pthread_t thread_{};
  Wake wake_;
  std::atomic<bool> stop_{false}, stopped_{false}, is_stalled_{false};

  std::mutex mutex_;  // of what follows; never held by a thread of the program
  StackBook book_;
  std::vector<Sample> samples_;
  std::unordered_map<std::int64_t, std::size_t> last_samples_;  // of each thread, by tid
  std::vector<SystemFactRow> facts_;
  std::string failure_;
  std::vector<std::int64_t> told_children_;

  // The writer's own.
  CallJoin call_join_;
  std::unique_ptr<NativeStacks> native_;  // null: no such stack has come
  std::vector<NativeCall> native_calls_;
  unsigned callers_seen_ = 0;

  // The thread's own.
  std::optional<PythonSymbols> symbols_;
  std::unique_ptr<PythonProcess> process_;
  std::vector<PythonThread> threads_;
  std::unique_ptr<PythonChildren> children_;
  bool is_fit_ = false, is_over_ = false;
  int looks_ = 0;
  std::int64_t whole_ = 0, torn_ = 0;  // of the last samples
  std::uint64_t random_ = 88172645463325252;
};

}  // namespace traceinject
