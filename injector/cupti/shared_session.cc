// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/shared_session.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "injector/base/clock.h"
#include "injector/base/counters.h"
#include "injector/base/timed_lock.h"
#include "injector/cupti/errors.h"
#include "injector/cupti/record_clock.h"

namespace traceinject {

constinit SharedSession g_shared_session;
static_assert(std::is_trivially_destructible_v<SharedSession>, "threads use it until the end");

namespace {

// For work that is not done.
constexpr std::int64_t kLongestWaitNs = 1'000'000'000;
constexpr long kPauseNs = 200'000;

pthread_mutex_t g_flush_turn = PTHREAD_MUTEX_INITIALIZER;

// The kind that CUPTI turns off with this one.
CUpti_ActivityKind TwinOf(CUpti_ActivityKind kind) {
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY) return CUPTI_ACTIVITY_KIND_MEMSET;
  if (kind == CUPTI_ACTIVITY_KIND_MEMSET) return CUPTI_ACTIVITY_KIND_MEMCPY;
  return CUPTI_ACTIVITY_KIND_INVALID;
}

constinit const WantedRecords kNothing;

CallSwitches::Calls BlockingCalls(CudaDomain domain) {
  CallSwitches::Calls calls;
  for (const AllowedCall& call : kAllowList) {
    if (call.domain == domain && MayBlock(call.call_class)) calls.set(call.cbid);
  }
  return calls;
}

}  // namespace

FlushTurn::FlushTurn(std::int64_t limit_ns) {
  if (limit_ns == kForEver) {
    held_ = pthread_mutex_lock(&g_flush_turn) == 0;
    return;
  }
  held_ = LockWithin(&g_flush_turn, limit_ns);
}

FlushTurn::~FlushTurn() {
  if (held_) pthread_mutex_unlock(&g_flush_turn);
}

CUptiResult SharedSession::Attach(const CuptiLibrary* cupti,
                                  CUpti_BuffersCallbackRequestFunc on_requested,
                                  CUpti_BuffersCallbackCompleteFunc on_completed) {
  // Thread ids as the kernel counts them: the same in records, wrappers and /proc.
  if (cupti->SetThreadIdType != nullptr)
    CuptiSucceeded("cuptiSetThreadIdType",
                   cupti->SetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  const CUptiResult result = cupti->ActivityRegisterCallbacks(on_requested, on_completed);
  if (result != CUPTI_SUCCESS) return result;
  our_request_ = on_requested;
  our_complete_ = on_completed;
  registered_.store(true, std::memory_order_release);
  presence_.store(Presence::kAttached, std::memory_order_release);
  cupti_.store(cupti, std::memory_order_release);
  return result;
}

CUptiResult SharedSession::Leave() {
  presence_.store(Presence::kDetached,
                  std::memory_order_release);  // first: other threads look at it
  calls_.TurnKindsOff(*cupti());
  const CUptiResult result = cupti()->Finalize();
  if (result == CUPTI_SUCCESS) {
    TakenAway();
  } else {
    presence_.store(Presence::kAttached, std::memory_order_release);
  }
  return result;
}

void SharedSession::Return() {
  if (detached() || (attached() && !registered_.load(std::memory_order_acquire)))
    CuptiSucceeded("cuptiActivityRegisterCallbacks", Attach(cupti(), our_request_, our_complete_));
}

CUptiResult SharedSession::SetKind(Side side, CUpti_ActivityKind kind, bool on) {
  if (side == kTheirs && on) SetBusy();
  return on ? Enable(side, kind) : Disable(side, kind);
}

CUptiResult SharedSession::Enable(Side side, CUpti_ActivityKind kind) {
  const bool begins = side == kTheirs && request() != nullptr && !wanted_[kTheirs].HasAnyKind();
  if (begins) Begin();
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) NoteHarm();
  const CUptiResult result =
      AreSwitchedOneByOne(kind) ? SwitchKindOfCalls(side, kind, true) : EnableInCupti(side, kind);
  if (result == CUPTI_SUCCESS) {
    wanted_[side].SetKind(kind, true);
    if (side == kTheirs) delivered_.SetKind(kind, true);
  } else if (begins) {
    End();
    Release();
  }
  return result;
}

CUptiResult SharedSession::EnableInCupti(Side side, CUpti_ActivityKind kind) const {
  constexpr auto kConcurrent = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  if (kind == kConcurrent && KernelsAreSerial())
    return side == kOurs ? CUPTI_SUCCESS : cupti()->ActivityEnable(kind);
  if (IsWantedBeside(side, kind)) return CUPTI_SUCCESS;
  const bool instead = side == kTheirs && kind == CUPTI_ACTIVITY_KIND_KERNEL &&
                       !KernelsAreSerial() && wanted_[kOurs].HasKind(kConcurrent) &&
                       !wanted_[kTheirs].HasKind(kConcurrent);
  if (instead) cupti()->ActivityDisable(kConcurrent);
  const CUptiResult result = cupti()->ActivityEnable(kind);
  if (instead && result != CUPTI_SUCCESS) cupti()->ActivityEnable(kConcurrent);
  return result;
}

void SharedSession::Register(CUpti_BuffersCallbackRequestFunc on_requested,
                             CUpti_BuffersCallbackCompleteFunc on_completed) {
  SetBusy();
  complete_.store(on_completed, std::memory_order_release);
  request_.store(on_requested, std::memory_order_release);
  if (!BuffersAreTheirs() && wanted_[kTheirs].HasAnyKind()) Begin();
}

void SharedSession::Begin() {
  delivered_.CopyFrom(wanted_[kTheirs]);
  their_buffers_.SetAsked(false);
  SetBuffersAreTheirs(true);
  BringBack();
  Hold();
  g_counters.Add(Health::kOtherClientSessions);
}

// Those of its buffers that are filled now come back by the flush with which it ends.
void SharedSession::End() { SetBuffersAreTheirs(false); }

void SharedSession::Hold() {
  for (int number = 1; number < CUPTI_ACTIVITY_KIND_COUNT; ++number) {
    const auto kind = static_cast<CUpti_ActivityKind>(number);
    if (held_kinds_[static_cast<std::size_t>(number)]) Enable(kHeld, kind);
  }
}

void SharedSession::Release() {
  for (int number = 1; number < CUPTI_ACTIVITY_KIND_COUNT; ++number) {
    const auto kind = static_cast<CUpti_ActivityKind>(number);
    if (wanted_[kHeld].HasKind(kind)) Disable(kHeld, kind);
  }
}

bool SharedSession::IsWantedBeside(Side side, CUpti_ActivityKind kind) const {
  for (int other = 0; other < kSides; ++other) {
    if (other != side && wanted_[other].HasKind(kind)) return true;
  }
  return false;
}

void SharedSession::SetBuffersAreTheirs(bool on) {
  changed_ns_.store(ReadClockNs(CLOCK_MONOTONIC), std::memory_order_relaxed);
  buffers_are_theirs_.store(on, std::memory_order_release);
}

void SharedSession::HandOver(const TheirBuffers::Completed& completed) {
  if (!their_buffers_.CameBack(completed)) return;
  if (const auto tell = complete())
    tell(completed.context, completed.stream, completed.buffer, completed.size,
         completed.valid_bytes);
}

void SharedSession::BeginTheirFlush() {
  their_buffers_.SetAsked(true);
  const auto kept = their_buffers_.TakeKept();
  if (!kept) return;
  if (const auto tell = complete())
    tell(kept->context, kept->stream, kept->buffer, kept->size, kept->valid_bytes);
}

void SharedSession::EndTheirFlush() { their_buffers_.SetAsked(!BuffersAreTheirs()); }

CUptiResult SharedSession::Flush(std::uint32_t flags) {
  their_buffers_.NoteOurFlush();
  return cupti()->ActivityFlushAll(flags);
}

void SharedSession::NoteCall(std::uint32_t correlation) {
  std::uint32_t latest = latest_call();
  while (!latest_call_.compare_exchange_weak(latest, LaterCorrelation(latest, correlation),
                                             std::memory_order_relaxed)) {
  }
}

void SharedSession::SetOwnThread() {
  const auto id = cupti()->SetThreadIdType != nullptr ? static_cast<std::uint64_t>(gettid())
                                                      : static_cast<std::uint64_t>(pthread_self());
  own_thread_.store(static_cast<std::uint32_t>(id), std::memory_order_relaxed);
}

bool SharedSession::IsOwnCall(const CUpti_Activity* record) const {
  return WantedRecords::IsCalls(record->kind) &&
         reinterpret_cast<const ApiRecord*>(record)->threadId ==
             own_thread_.load(std::memory_order_relaxed);
}

void SharedSession::BringBack() {
  const std::int64_t until_ns = ReadClockNs(CLOCK_MONOTONIC) + kLongestWaitNs;
  do {
    Flush(0);
    if (!HasLent()) return;
    const timespec pause{0, kPauseNs};
    nanosleep(&pause, nullptr);
  } while (ReadClockNs(CLOCK_MONOTONIC) < until_ns);
  Flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

CUptiResult SharedSession::Disable(Side side, CUpti_ActivityKind kind) {
  const bool was_on = wanted_[side].HasKind(kind);
  wanted_[side].SetKind(kind, false);
  const bool ends = side == kTheirs && was_on && !wanted_[kTheirs].HasAnyKind();
  if (ends) {
    End();
    busy_.store(false, std::memory_order_relaxed);
  }
  const CUptiResult result = DisableInCupti(side, kind, was_on);
  if (ends) Release();
  return result;
}

CUptiResult SharedSession::DisableOurs() {
  wanted_until_end_.CopyFrom(wanted_[kOurs]);
  ends_.fetch_add(1, std::memory_order_acq_rel);
  Kinds off;
  for (int number = 1; number < CUPTI_ACTIVITY_KIND_COUNT; ++number) {
    const auto kind = static_cast<CUpti_ActivityKind>(number);
    off[static_cast<std::size_t>(number)] = wanted_[kOurs].HasKind(kind);
    wanted_[kOurs].SetKind(kind, false);
  }
  CUptiResult refusal = CUPTI_SUCCESS;
  for (int number = 1; number < CUPTI_ACTIVITY_KIND_COUNT; ++number) {
    if (!off[static_cast<std::size_t>(number)]) continue;
    const CUptiResult result = DisableInCupti(kOurs, static_cast<CUpti_ActivityKind>(number), true);
    if (result != CUPTI_SUCCESS) refusal = result;
  }
  return refusal;
}

CUptiResult SharedSession::DisableInCupti(Side side, CUpti_ActivityKind kind, bool was_on) {
  if (AreSwitchedOneByOne(kind)) return SwitchKindOfCalls(side, kind, false);
  if (IsWantedBeside(side, kind)) return CUPTI_SUCCESS;
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && KernelsAreSerial()) return CUPTI_SUCCESS;
  const CUptiResult result = cupti()->ActivityDisable(kind);
  if (kind == CUPTI_ACTIVITY_KIND_KERNEL && was_on &&
      wanted_[kOurs].HasKind(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
    cupti()->ActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  RestoreTwin(kind);
  return result;
}

// Copies and memsets go off together, while CUPTI takes the other kind to be on still: to turn that
// on has no effect until it was turned off (tests/gpu/cupti/cupti_gpu_time.cc).
void SharedSession::RestoreTwin(CUpti_ActivityKind kind) const {
  const CUpti_ActivityKind twin = TwinOf(kind);
  const bool on = std::any_of(std::begin(wanted_), std::end(wanted_),
                              [twin](const WantedRecords& wanted) { return wanted.HasKind(twin); });
  if (!on) return;
  cupti()->ActivityDisable(twin);
  cupti()->ActivityEnable(twin);
}

CUptiResult SharedSession::SetCall(Side side, CudaDomain domain, std::uint32_t cbid, bool on) {
  CallSwitches::Calls call;
  if (cbid < CallSwitches::kCalls) call.set(cbid);
  return SetCalls(side, domain, call, on);
}

CUptiResult SharedSession::SetCalls(Side side, CudaDomain domain, const CallSwitches::Calls& calls,
                                    bool on) {
  if (!cupti()->SelectsCalls()) return CUPTI_ERROR_NOT_SUPPORTED;
  if (side == kTheirs && on) SetBusy();
  for (std::uint32_t cbid = 1; cbid < CallSwitches::kCalls; ++cbid) {
    if (!calls[cbid]) continue;
    wanted_[side].SetCall(domain, cbid, on);
    if (side == kTheirs) delivered_.SetCall(domain, cbid, on);
  }
  return SwitchCalls(domain);
}

void SharedSession::HookCalls(bool runtime, bool blocking) {
  if (!cupti()->SelectsCalls()) return;
  if (blocking) driver_stay_on_ = BlockingCalls(CudaDomain::kDriver);
  calls_.Hook(*cupti(), CudaDomain::kDriver);
  SwitchCalls(CudaDomain::kDriver);
  if (!runtime) return;
  NoteHarm();
  if (blocking) runtime_stay_on_ = BlockingCalls(CudaDomain::kRuntime);
  calls_.Hook(*cupti(), CudaDomain::kRuntime);
  SwitchCalls(CudaDomain::kRuntime);
}

CUptiResult SharedSession::SwitchKindOfCalls(Side side, CUpti_ActivityKind kind, bool on) {
  wanted_[side].SetKind(kind, on);
  const CUptiResult result = SwitchCalls(WantedRecords::DomainOf(kind));
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER) SwitchCalls(CudaDomain::kRuntime);
  if (on && result != CUPTI_SUCCESS) SwitchKindOfCalls(side, kind, false);
  return result;
}

CUptiResult SharedSession::SwitchCalls(CudaDomain domain) {
  CallSwitches::Calls wanted;
  for (std::uint32_t cbid = 1; cbid < CallSwitches::kCalls; ++cbid)
    wanted[cbid] = IsCallWanted(domain, cbid);
  if (calls_.Tells(domain))
    wanted |= domain == CudaDomain::kDriver ? driver_stay_on_ : runtime_stay_on_;
  if (domain == CudaDomain::kRuntime && wanted.any()) NoteHarm();
  return calls_.Set(*cupti(), domain, wanted);
}

// Who wants all of the driver's does not get those inside a runtime's, as without us.
bool SharedSession::IsCallWanted(CudaDomain domain, std::uint32_t cbid) const {
  const WantedRecords& theirs = wanted_[kTheirs];
  const bool hides = domain == CudaDomain::kRuntime && calls_.IsHooked(domain) &&
                     theirs.HasKind(CUPTI_ACTIVITY_KIND_DRIVER) &&
                     !theirs.HasKind(CUPTI_ACTIVITY_KIND_RUNTIME);
  return hides || theirs.HasCall(domain, cbid) || wanted_[kOurs].HasCall(domain, cbid);
}

void SharedSession::TakenAway() {
  End();
  registered_.store(false, std::memory_order_release);
  busy_.store(false, std::memory_order_relaxed);
  for (WantedRecords& wanted : wanted_) wanted.CopyFrom(kNothing);
  lent_.store(0, std::memory_order_relaxed);
  their_buffers_.Forget();
  lends_.Forget();
  latest_call_.store(0, std::memory_order_relaxed);
  calls_.Forget();
  g_record_clocks.Use(nullptr);
  taken_away_count_.fetch_add(1, std::memory_order_acq_rel);
}

void SharedSession::StandAside() {
  presence_.store(Presence::kSuspended, std::memory_order_release);
  TakenAway();
}

void SharedSession::Finalized(std::int64_t time_ns) {
  TakenAway();
  finalized_ns_.store(time_ns, std::memory_order_release);
}

}  // namespace traceinject
