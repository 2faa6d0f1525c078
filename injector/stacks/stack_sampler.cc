// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/stack_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "injector/base/clock.h"
#include "injector/base/counters.h"
#include "injector/base/own_thread.h"
#include "injector/base/real_function.h"
#include "injector/base/sources.h"
#include "injector/stacks/own_stack.h"

namespace traceinject {
namespace {

constexpr std::int64_t kStackSecondNs = 1'000'000'000;
constexpr std::int64_t kLongestStackStopNs = kStackSecondNs / 5;
// Between looks for an interpreter, and while nothing is recorded.
constexpr std::int64_t kRestNs = kStackSecondNs / 20;
// Rows that wait for the writer at most.
constexpr std::size_t kMaxWaitingSamples = 200'000;
constexpr std::size_t kMaxNativeCalls = 100'000;
// A stack that changes while it is read is read again, first also one of which only the innermost
// frames do.
constexpr int kTries = 10, kTriesForAll = 4;
// Rounds take no larger share of a processor: with many threads they become fewer.
constexpr std::int64_t kRestPerRound = 30;
constexpr std::size_t kSamplerStackBytes = 512 << 10;

bool IsThreadOf(std::int64_t pid, std::int64_t tid) {
  char path[96];
  std::snprintf(path, sizeof path, "/proc/%lld/task/%lld", static_cast<long long>(pid),
                static_cast<long long>(tid));
  return access(path, F_OK) == 0;
}

}  // namespace

StackSampler::StackSampler(std::int64_t hz, std::int64_t base_ns) : hz_(hz), base_ns_(base_ns) {}

bool StackSampler::Start() { return StartOwnThread(&thread_, RunThread, this, kSamplerStackBytes); }

void* StackSampler::RunThread(void* sampler) {
  pthread_setname_np(pthread_self(), "traceinject-stk");
  try {
    static_cast<StackSampler*>(sampler)->Run();
  } catch (...) {  // out of memory: no more stacks
    g_counters.Add(Health::kStackFailed);
  }
  return nullptr;
}

void StackSampler::Stop() noexcept {
  if (stopped_.exchange(true)) return;
  stop_.store(true, std::memory_order_release);
  wake_.Post();
  JoinWithin(thread_, kLongestStackStopNs);
}

std::string StackSampler::failure() {
  std::lock_guard lock(mutex_);
  return failure_;
}

void StackSampler::Fail(const std::string& why) {
  g_counters.Set(Health::kStackFailed, 1);
  is_over_ = true;
  g_own_stacks.store(nullptr, std::memory_order_release);
  g_takes_native_stacks.store(false, std::memory_order_relaxed);
  std::lock_guard lock(mutex_);
  failure_ = why;
  facts_.push_back({"stacks", symbols_ ? "python" : "native", {}, why});
}

void StackSampler::Take(Dictionary* dictionary, Batch* batch) {
  NameNativeCalls(dictionary);
  if (native_ != nullptr && native_->IsFull()) native_->Forget();
  std::lock_guard lock(mutex_);
  for (const Sample& sample : samples_) {
    batch->stack_samples.push_back({sample.time, dictionary->Thread(sample.tid),
                                    book_.Row(sample.node, dictionary), sample.kind, false, 0,
                                    sample.repeats, sample.span});
  }
  samples_.clear();
  last_samples_.clear();
  RenewCalls(dictionary);
  for (SystemFactRow& fact : facts_) batch->facts.push_back(std::move(fact));
  facts_.clear();
}

// What waits for its call keeps its thread and its stack in the tables. With the mutex held.
void StackSampler::RenewCalls(Dictionary* dictionary) {
  const bool forgets = book_.IsFull();
  call_join_.ForEach([&](CallJoin::Origin* origin, StackSampleRow* row) {
    row->thread = dictionary->Thread(origin->tid);
    if (origin->node != 0) row->stack = book_.Row(origin->node, dictionary);
    if (forgets) origin->node = 0;
  });
  if (forgets) book_.Forget();
}

void StackSampler::Decode(int tid, const StackEvent& event, Dictionary* dictionary) {
  g_counters.Add(Health::kStackSeen);
  std::lock_guard lock(mutex_);
  std::uint32_t node = 0;
  StackBook::WithinModule within;
  bool is_known = process_ != nullptr;
  for (std::uint32_t i = event.count; is_known && i-- > 0;) {
    const StackBook::Source source{&process_->memory(), &process_->layout(), &process_->types(),
                                   static_cast<std::uint64_t>(process_->memory().pid())};
    const StackEventFrame& frame = event.frames()[i];
    const std::uint32_t place = book_.PlaceOfCheck(
        source, {frame.code, frame.offset, frame.first_local}, frame.check, &within);
    if (place == StackBook::kHidden) continue;
    node = place == 0 ? 0 : book_.Node(node, place, within.called());
    is_known = node != 0;
  }
  if (!is_known) return g_counters.Add(Health::kStackDropped);
  if (event.is_cut != 0) g_counters.Add(Health::kStackCut);
  call_join_.Add({event.header.time_ns - base_ns_, dictionary->Thread(tid),
                  book_.Row(node, dictionary), event.header.flags, false, 0},
                 event.end_ns - base_ns_, {tid, node});
}

NativeStacks& StackSampler::native() {
  if (native_ == nullptr)
    native_ = std::make_unique<NativeStacks>(reinterpret_cast<const void*>(&EmitStackCopy));
  return *native_;
}

void StackSampler::Decode(int tid, const NativeStackEvent& event, Dictionary* dictionary) {
  g_counters.Add(Health::kStackSeen);
  NativeStacks::Stack stack = native().Unwind(event);
  if (stack.functions.empty() || native_calls_.size() >= kMaxNativeCalls)
    return g_counters.Add(Health::kStackDropped);
  if (stack.is_cut) g_counters.Add(Health::kStackCut);
  native_calls_.push_back(
      {tid,
       {event.header.time_ns - base_ns_, dictionary->Thread(tid), 0, event.header.flags, false, 0},
       event.end_ns - base_ns_,
       std::move(stack.functions)});
}

void StackSampler::LookAtCallers() {
  if (!g_new_callers.are_wanted.load(std::memory_order_relaxed)) return;
  const unsigned count = g_new_callers.count.load(std::memory_order_relaxed);
  if (std::exchange(callers_seen_, count) == count) return;
  native().LookAtCode();
}

// Names are looked up for many at once: all symbols of an object are read for them.
void StackSampler::NameNativeCalls(Dictionary* dictionary) {
  if (native_calls_.empty()) return;
  native_->Name();
  std::lock_guard lock(mutex_);
  for (NativeCall& call : native_calls_) {
    std::uint32_t node = 0;
    for (auto number = call.functions.rbegin(); number != call.functions.rend(); ++number) {
      const NativeStacks::Function& function = native_->function(*number);
      node = book_.Node(node, book_.PlaceOfFunction(function.name, function.object->path()), 0);
      if (node == 0) break;
    }
    if (node == 0) {
      g_counters.Add(Health::kStackDropped);
      continue;
    }
    call.row.thread = dictionary->Thread(call.tid);
    call.row.stack = book_.Row(node, dictionary);
    call_join_.Add(call.row, call.end, {call.tid, node});
  }
  native_calls_.clear();
}

void StackSampler::JoinCalls(const Batch& batch, Dictionary* dictionary) {
  NameNativeCalls(dictionary);
  call_join_.Match(batch.apis);
}

// A sandbox may refuse it.
bool StackSampler::MayReadMemory() {
  std::int64_t own = 0;
  if (ProcessMemory().Read(reinterpret_cast<std::uint64_t>(&hz_), &own) && own == hz_) return true;
  Fail("the system refuses process_vm_readv");
  return false;
}

// As long as no interpreter runs.
void StackSampler::TakeNativeStacks() {
  if (!kCopiesStacks || g_takes_native_stacks.load(std::memory_order_relaxed) || !MayReadMemory())
    return;
  {
    std::lock_guard lock(mutex_);
    facts_.push_back({"stacks", "native", "x86-64", {}});
  }
  g_new_callers.are_wanted.store(true, std::memory_order_relaxed);
  g_takes_native_stacks.store(true, std::memory_order_relaxed);
}

// False: there is none so far, or none that can be read.
bool StackSampler::FindPython() {
  if (process_ != nullptr) return true;
  symbols_ = FindPythonSymbols();
  if (!symbols_ || !symbols_->IsAlive()) return TakeNativeStacks(), false;
  g_takes_native_stacks.store(false, std::memory_order_relaxed);
  if (!MayReadMemory()) return false;
  std::string why;
  const auto layout = FindPythonLayout(*symbols_, &why);
  if (!layout) return Fail(why), false;
  const std::int32_t tid_offset = FindThreadIdOffset();
  const std::lock_guard lock(mutex_);
  process_ = std::make_unique<PythonProcess>(ProcessMemory(), *layout, symbols_->types,
                                             symbols_->runtime, tid_offset);
  children_ = std::make_unique<PythonChildren>(*process_, symbols_->runtime, tid_offset);
  return true;
}

// Whether what is read is what it was taken for: threads are those of this process, and at least
// one of them has a stack all of whose frames have code objects with names and lines.
bool StackSampler::IsFit() {
  constexpr int kMaxLooks = 200;
  if (is_fit_) return true;
  if (++looks_ > kMaxLooks) {
    Fail("its threads and frames were not found where this version of Python has them");
    return false;
  }
  if (!process_->ReadThreads(&threads_) || threads_.empty()) return false;
  for (const PythonThread& thread : threads_) {
    if (!IsThreadOf(getpid(), thread.tid)) continue;
    if (process_->ReadStack(thread) == StackResult::kTorn || process_->count() == 0) continue;
    std::lock_guard lock(mutex_);
    if (BookStack(*process_) == 0) continue;
    const std::string_view version = symbols_->Py_GetVersion();
    facts_.push_back({"stacks", "python", std::string(version.substr(0, version.find(' '))), {}});
    facts_.push_back({"stacks", "period_ns", std::to_string(kStackSecondNs / hz_), {}});
    // Never freed: threads of the program may be reading by it.
    g_own_stacks.store(new OwnStacks{*symbols_, process_->layout()}, std::memory_order_release);
    return is_fit_ = true;
  }
  return false;
}

// The stack that was just read. 0: a frame of it is none. With the mutex held.
std::uint32_t StackSampler::BookStack(const PythonProcess& process) {
  const StackBook::Source source{&process.memory(), &process.layout(), &process.types(),
                                 static_cast<std::uint64_t>(process.memory().pid())};
  std::uint32_t node = 0;
  StackBook::WithinModule within;
  for (std::size_t i = process.count(); i-- > 0;) {
    const std::uint32_t place = book_.Place(source, process.frame(i), process.code(i), &within);
    if (place == 0) return 0;
    if (place == StackBook::kHidden) continue;
    node = book_.Node(node, place, within.called());
    if (node == 0) return 0;
  }
  return node;
}

// Threads that wait stand in one place for many samples: one row tells of all.
bool StackSampler::Repeats(const Sample& sample) {
  constexpr std::int64_t kMaxPeriods = 4;  // beyond, it may have been elsewhere
  const auto last = last_samples_.find(sample.tid);
  if (last == last_samples_.end()) return false;
  Sample& before = samples_[last->second];
  const std::int64_t span = sample.time - before.time;
  if (before.node != sample.node || before.kind != sample.kind || span < before.span ||
      span - before.span > kMaxPeriods * kStackSecondNs / hz_)
    return false;
  ++before.repeats;
  before.span = span;
  return true;
}

void StackSampler::Keep(const Sample& sample) {
  if (Repeats(sample)) return g_counters.Add(Health::kStackRepeated);
  g_counters.Add(Health::kStackSeen);
  if (samples_.size() >= kMaxWaitingSamples) return g_counters.Add(Health::kStackDropped);
  last_samples_[sample.tid] = samples_.size();
  samples_.push_back(sample);
}

bool StackSampler::SampleThread(PythonProcess* process, const PythonThread& thread, int kind) {
  for (int i = 0; i < kTries; ++i) {
    const StackResult result = process->ReadStack(thread);
    if (result == StackResult::kTorn) continue;
    if (result == StackResult::kPartial && i < kTriesForAll) continue;
    if (result == StackResult::kNone) return true;  // or it is gone
    std::lock_guard lock(mutex_);
    const std::uint32_t node = BookStack(*process);
    if (node == 0) continue;
    if (result == StackResult::kCut) g_counters.Add(Health::kStackCut);
    if (result == StackResult::kPartial) g_counters.Add(Health::kStackPartial);
    Keep({process->time_ns() - base_ns_, thread.tid, node, kind});
    return true;
  }
  g_counters.Add(Health::kStackTorn);
  return false;
}

void StackSampler::AddChild(std::int64_t pid) {
  std::lock_guard lock(mutex_);
  if (told_children_.size() < PythonChildren::kMax) told_children_.push_back(pid);
}

void StackSampler::SampleNextChild() {
  {
    std::lock_guard lock(mutex_);
    for (const std::int64_t pid : std::exchange(told_children_, {})) children_->Add(pid);
  }
  const std::int64_t now = NowNs();
  PythonChild* child = children_->Next(now);
  if (child == nullptr) return;
  threads_.clear();
  bool is_read = child->process != nullptr && child->process->ReadThreads(&threads_);
  for (PythonThread& thread : threads_) {
    // Up to 3.12 a child may still tell the number that its thread had before the fork.
    if (!IsThreadOf(child->pid, thread.tid)) thread.tid = child->pid;
    is_read &= SampleThread(child->process.get(), thread, kSampled);
  }
  children_->Note(child, is_read, now);
}

void StackSampler::SampleAll() {
  constexpr std::int64_t kEnough = 2000;
  process_->ReadThreads(&threads_);  // those that were found before they changed are good
  const int kind = is_stalled_.exchange(false, std::memory_order_relaxed) ? kStall : kSampled;
  for (const PythonThread& thread : threads_)
    ++(SampleThread(process_.get(), thread, kind) ? whole_ : torn_);
  if (whole_ + torn_ < kEnough) return;
  if (torn_ > whole_) Fail("most stacks changed while they were read");
  whole_ = torn_ = 0;
}

// Not at a fixed rhythm, which a program's own could fall in with.
std::int64_t StackSampler::NextWaitNs(std::int64_t round_ns) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  const std::int64_t period = kStackSecondNs / hz_;
  const auto part = static_cast<std::int64_t>(random_ % 1024);
  return std::max(period / 2 + period * part / 1024 - round_ns, kRestPerRound * round_ns);
}

void StackSampler::Run() {
  while (!stop_.load(std::memory_order_acquire) && !is_over_) {
    std::int64_t wait = kRestNs;
    if (Delivers(Source::kStacks) && FindPython()) {
      const std::int64_t start = ReadClockNs(CLOCK_THREAD_CPUTIME_ID);
      if (!symbols_->IsAlive()) {
        if (is_fit_) return;  // it ends
      } else if (IsFit()) {
        SampleAll();
        SampleNextChild();
        const std::int64_t now = ReadClockNs(CLOCK_THREAD_CPUTIME_ID);
        g_counters.Set(Health::kStackCpuUs, now / 1000);
        wait = NextWaitNs(now - start);
      }
    }
    wake_.Wait(wait);
  }
}

}  // namespace traceinject
