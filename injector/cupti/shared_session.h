// SPDX-License-Identifier: Apache-2.0
// CUPTI's activity API has one pair of buffer callbacks and one set of kinds a process. Here two
// clients share them: this library, and another one that calls the exported wrappers (wrappers.cc),
// as PyTorch's profiler does.
//
// Our callbacks stay registered. When the other client begins, all buffers of ours come back; while
// it wants any kind, buffers are asked of it. Of one that comes back we take copies of our records,
// take out what it did not ask for, and hand it over (buffer_sharing.h). A kind is on while either
// of the two wants it. Only kernels one at a time (CUPTI_ACTIVITY_KIND_KERNEL) and concurrent ones
// exclude each other: while the other client wants the former, they are what we record, too.
//
// While nothing is recorded we may leave CUPTI altogether: until cuptiFinalize(), what was enabled
// once costs something on every launch. Another client that comes then finds us as if we had
// stayed.
//
// Calls that change something come from one thread at a time of each client. The callbacks of
// CUPTI only read, and take no lock.
#pragma once

#include <pthread.h>

#include <atomic>
#include <bitset>
#include <cstdint>

#include "injector/cupti/call_switches.h"
#include "injector/cupti/lend_table.h"
#include "injector/cupti/library.h"
#include "injector/cupti/their_buffers.h"
#include "injector/cupti/wanted_records.h"

namespace traceinject {

class SharedSession {
 public:
  // kHeld: nobody's; on while the other client is in a session (Hold).
  enum Side : int { kOurs, kTheirs, kHeld };

  // Kinds of work that we record at times. In a session of the other client's they stay on
  // throughout, and windows of ours that begin or end in it turn nothing on or off: that makes
  // CUPTI tell calls twice that threads are in at that time, or give all later ones of a thread the
  // same correlation id, and PyTorch's profiler fails on either.
  using Kinds = std::bitset<CUPTI_ACTIVITY_KIND_COUNT>;
  void SetHeldKinds(const Kinds& kinds) { held_kinds_ = kinds; }

  // Where we stand with CUPTI.
  enum class Presence : int {
    kAttached,   // our callbacks are registered, or are to be again (registered_)
    kSuspended,  // a client that is not seen has it (unseen_client.h)
    kDetached,   // we left it: nobody has it, as far as we know
  };

  // Our buffer callbacks are CUPTI's. From now on what the other client wants is kept apart from
  // what we want. `cupti` lives as long as the process.
  CUptiResult Attach(const CuptiLibrary* cupti, CUpti_BuffersCallbackRequestFunc on_requested,
                     CUpti_BuffersCallbackCompleteFunc on_completed);
  // Null before Attach().
  const CuptiLibrary* cupti() const { return cupti_.load(std::memory_order_acquire); }
  // While it is false, nothing of ours may call CUPTI: one call is enough to bring it back.
  bool attached() const { return presence_.load(std::memory_order_acquire) == Presence::kAttached; }
  bool suspended() const {
    return presence_.load(std::memory_order_acquire) == Presence::kSuspended;
  }
  bool detached() const { return presence_.load(std::memory_order_acquire) == Presence::kDetached; }

  // Within cuInit, after Attach(): from now on single calls can be recorded (call_switches.h), of
  // the runtime only with `runtime`. With `blocking` those of these domains that may block
  // (MayBlock) are on as long as calls are told, whether we want them or not.
  void HookCalls(bool runtime, bool blocking);
  // Whether a driver call inside a runtime's that nobody wants is told.
  bool TellsInnerCalls() const { return calls_.IsHooked(CudaDomain::kDriver); }

  // Leaves CUPTI by cuptiFinalize(), where no other client uses it and CanBeFinalized(). Holds
  // FlushTurn.
  CUptiResult Leave();
  // cuptiFinalize() corrupts the heap of a process in which records of runtime calls were ever on,
  // or somebody subscribed while those of driver calls were (tests/gpu/cupti/cupti_detach.cc).
  bool CanBeFinalized() const { return !harmed_by_finalize_.load(std::memory_order_relaxed); }
  void NoteSubscriber() {
    if (calls_.AnyOn() || wanted_[kOurs].HasAnyKind() || wanted_[kTheirs].HasAnyKind()) NoteHarm();
  }
  // Another client comes: we are there again if we had left, or if one before it took CUPTI away
  // and the writer has not noticed yet. Holds FlushTurn.
  void Return();
  // Whether a client that is seen is in a session, is about to be, or waits for what it brought.
  bool IsUsedByThem() const {
    return subscribed() || busy_.load(std::memory_order_relaxed) || wanted_[kTheirs].HasAnyKind() ||
           their_buffers_.AreOut();
  }
  // It began to set a session up; the session ends with its last kind.
  void SetBusy() { busy_.store(true, std::memory_order_relaxed); }

  // Turns a kind, one call, or many on or off for one side. What CUPTI answers, if it had to be
  // asked; of many calls an error only if it refused all of them. What is to be on is worked out
  // anew each time, some ten microseconds: many calls go at once.
  CUptiResult SetKind(Side side, CUpti_ActivityKind kind, bool on);
  CUptiResult SetCall(Side side, CudaDomain domain, std::uint32_t cbid, bool on);
  CUptiResult SetCalls(Side side, CudaDomain domain, const CallSwitches::Calls& calls, bool on);
  // All kinds of ours off together. One after the other, copies and memsets would be turned on
  // again for each other; and from the first kind that is turned on again, CUPTI costs a
  // microsecond a launch for good (tests/gpu/results/cost.md). The last error. Call it before calls
  // of ours go off: what we want until then stays ours in buffers that come back late.
  CUptiResult DisableOurs();
  const WantedRecords& wanted(Side side) const { return wanted_[side]; }
  // What the other client wanted at any time of its latest session: its buffers come back after it
  // turned its kinds off.
  const WantedRecords& delivered() const { return delivered_; }
  // How often ours had gone off together when a buffer was lent that comes back now; asked once of
  // each. Where they have since, it may hold records of what we wanted until then: CUPTI keeps a
  // buffer until all that it tells of is done.
  int TakeLend(const std::uint8_t* buffer) { return lends_.Take(buffer).value_or(0); }
  bool HasEndedSince(int lend) const { return lend < ends_.load(std::memory_order_acquire); }
  const WantedRecords& wanted_until_end() const { return wanted_until_end_; }
  // The latest correlation id of the calls in the other client's buffers so far, ours or not; 0:
  // there was none.
  void NoteCall(std::uint32_t correlation);
  std::uint32_t latest_call() const { return latest_call_.load(std::memory_order_relaxed); }

  // The calling thread is ours: what it calls is none of the other client's business.
  void SetOwnThread();
  bool IsOwnCall(const CUpti_Activity* record) const;

  // Buffers of ours that CUPTI has.
  void Lent() { lent_.fetch_add(1, std::memory_order_relaxed); }
  void CameBack() { lent_.fetch_sub(1, std::memory_order_relaxed); }
  bool HasLent() const { return lent_.load(std::memory_order_relaxed) != 0; }
  // A call of CUPTI's that is no other client's. Holds FlushTurn.
  CUptiResult Flush(std::uint32_t flags);
  // All of them come back. Work that is not done yet is waited for, a second at most: a flush that
  // does not wait takes its records away for good. Holds FlushTurn.
  void BringBack();

  // The other client's buffer callbacks, before or after it enables kinds. Holds FlushTurn.
  void Register(CUpti_BuffersCallbackRequestFunc on_requested,
                CUpti_BuffersCallbackCompleteFunc on_completed);
  CUpti_BuffersCallbackRequestFunc request() const {
    return request_.load(std::memory_order_acquire);
  }
  CUpti_BuffersCallbackCompleteFunc complete() const {
    return complete_.load(std::memory_order_acquire);
  }
  // Whether buffers are asked of the other client.
  bool BuffersAreTheirs() const { return buffers_are_theirs_.load(std::memory_order_acquire); }

  // Of the other client's buffers. With a null `complete()` nobody is told.
  void LentByThem(const std::uint8_t* buffer) {
    their_buffers_.Lent();
    lends_.Add(buffer, ends_.load(std::memory_order_acquire));
  }
  void HandOver(const TheirBuffers::Completed& completed);
  // Around a flush of the other client's. The first hands over what was kept for it. Hold
  // FlushTurn.
  void BeginTheirFlush();
  void EndTheirFlush();
  // Whether a flush that is not needed now had better wait: a session of the other client's goes as
  // it would without us, and nothing comes back before it asks. At its beginning and end only, so
  // that what a crash may cost us is limited. `now_ns`: monotonic.
  bool Rests(std::int64_t now_ns) const {
    return their_buffers_.AreOut() &&
           now_ns - changed_ns_.load(std::memory_order_relaxed) < kLongestRestNs;
  }
  static constexpr std::int64_t kLongestRestNs = 10'000'000'000;

  // When the process ends: the other client may be destroyed already, and is not called any more.
  void LeaveThem() {
    buffers_are_theirs_.store(false, std::memory_order_release);
    complete_.store(nullptr, std::memory_order_release);
  }

  // Whether the other client subscribed to CUPTI, which only one can.
  void SetSubscribed(bool on) {
    subscribed_.store(on, std::memory_order_relaxed);
    if (on) NoteSubscriber();
  }
  bool subscribed() const { return subscribed_.load(std::memory_order_relaxed); }

  // A client that is not seen (unseen_client.h) took our callbacks and the buffers that CUPTI has,
  // and maybe all of CUPTI: what is on is not known.
  void StandAside();
  // cuptiFinalize() took everything away at this time: nothing is on, and buffers that did not come
  // back do not come any more.
  void Finalized(std::int64_t time_ns);
  // When that was, once; 0: it was not.
  std::int64_t TakeFinalized() { return finalized_ns_.exchange(0); }
  // How often either was so far, or we left. After cuptiFinalize() correlation ids begin at one
  // again.
  int taken_away_count() const { return taken_away_count_.load(std::memory_order_acquire); }

 private:
  void TakenAway();
  void NoteHarm() { harmed_by_finalize_.store(true, std::memory_order_relaxed); }
  void Begin();
  void End();
  void Hold();
  void Release();
  // Whether it is on for another one than this.
  bool IsWantedBeside(Side side, CUpti_ActivityKind kind) const;
  void SetBuffersAreTheirs(bool on);
  CUptiResult Enable(Side side, CUpti_ActivityKind kind);
  CUptiResult EnableInCupti(Side side, CUpti_ActivityKind kind) const;
  CUptiResult Disable(Side side, CUpti_ActivityKind kind);
  CUptiResult DisableInCupti(Side side, CUpti_ActivityKind kind, bool was_on);
  // Whether our concurrent kernels are off in CUPTI, as the other client has them one at a time.
  bool KernelsAreSerial() const { return wanted_[kTheirs].HasKind(CUPTI_ACTIVITY_KIND_KERNEL); }
  void RestoreTwin(CUpti_ActivityKind kind) const;
  bool IsCallWanted(CudaDomain domain, std::uint32_t cbid) const;
  bool AreSwitchedOneByOne(CUpti_ActivityKind kind) const {
    return WantedRecords::IsCalls(kind) && cupti()->SelectsCalls();
  }
  CUptiResult SwitchKindOfCalls(Side side, CUpti_ActivityKind kind, bool on);
  CUptiResult SwitchCalls(CudaDomain domain);

  std::atomic<const CuptiLibrary*> cupti_{nullptr};
  CUpti_BuffersCallbackRequestFunc our_request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc our_complete_ = nullptr;
  std::atomic<Presence> presence_{Presence::kAttached};
  std::atomic<bool> registered_{false};
  std::atomic<bool> busy_{false};
  static constexpr int kSides = 3;
  WantedRecords wanted_[kSides];
  Kinds held_kinds_;
  WantedRecords delivered_;
  WantedRecords wanted_until_end_;
  std::atomic<int> ends_{0};  // how often that was
  LendTable lends_;           // buffers of theirs, with ends_ when they were lent
  std::atomic<std::uint32_t> latest_call_{0};
  CallSwitches calls_;
  CallSwitches::Calls runtime_stay_on_, driver_stay_on_;
  std::atomic<CUpti_BuffersCallbackRequestFunc> request_{nullptr};
  std::atomic<CUpti_BuffersCallbackCompleteFunc> complete_{nullptr};
  std::atomic<bool> buffers_are_theirs_{false};
  TheirBuffers their_buffers_;
  std::atomic<std::int64_t> changed_ns_{0};  // when buffers_are_theirs_ did; monotonic
  std::atomic<int> lent_{0};
  std::atomic<std::uint32_t> own_thread_{0};  // as records tell
  std::atomic<bool> subscribed_{false};
  std::atomic<bool> harmed_by_finalize_{false};
  std::atomic<std::int64_t> finalized_ns_{0};
  std::atomic<int> taken_away_count_{0};
};

// The one of this process.
extern SharedSession g_shared_session;

// Held around every call that may flush: two flushes at a time deadlock in CUPTI. Never
// held by what CUPTI calls. Another client waits for ours at most `limit_ns`, and goes on then.
class FlushTurn {
 public:
  static constexpr std::int64_t kForEver = -1;
  explicit FlushTurn(std::int64_t limit_ns = kForEver);
  ~FlushTurn();
  FlushTurn(const FlushTurn&) = delete;
  FlushTurn& operator=(const FlushTurn&) = delete;

 private:
  bool held_;
};

}  // namespace traceinject
