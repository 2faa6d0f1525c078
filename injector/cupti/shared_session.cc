// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/shared_session.h"

#include <time.h>
#include <unistd.h>

#include "injector/core/clock.h"
#include "injector/core/counters.h"
#include "injector/cupti/errors.h"
#include "injector/cupti/record_clock.h"

namespace traceinject {

SharedSession g_shared_session;

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

}  // namespace

FlushTurn::FlushTurn(std::int64_t limit_ns) {
  if (limit_ns == kForEver) {
    held_ = pthread_mutex_lock(&g_flush_turn) == 0;
    return;
  }
  const std::int64_t until_ns = ReadClockNs(CLOCK_MONOTONIC) + limit_ns;
  const timespec until{static_cast<time_t>(until_ns / 1'000'000'000),
                       static_cast<long>(until_ns % 1'000'000'000)};
  held_ = pthread_mutex_clocklock(&g_flush_turn, CLOCK_MONOTONIC, &until) == 0;
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
  presence_.store(Presence::kThere, std::memory_order_release);
  cupti_.store(cupti, std::memory_order_release);
  return result;
}

CUptiResult SharedSession::Leave() {
  presence_.store(Presence::kAway, std::memory_order_release);  // first: other threads look at it
  const CUptiResult result = cupti()->Finalize();
  if (result == CUPTI_SUCCESS) {
    TakenAway();
  } else {
    presence_.store(Presence::kThere, std::memory_order_release);
  }
  return result;
}

void SharedSession::Return() {
  if (away())
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
  const CUptiResult result = EnableInCupti(side, kind);
  if (result == CUPTI_SUCCESS) {
    wanted_[side].SetKind(kind, true);
    if (side == kTheirs) delivered_.SetKind(kind, true);
  } else if (begins) {
    End();
  }
  return result;
}

CUptiResult SharedSession::EnableInCupti(Side side, CUpti_ActivityKind kind) const {
  constexpr auto kConcurrent = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  if (kind == kConcurrent && KernelsAreSerial())
    return side == kOurs ? CUPTI_SUCCESS : cupti()->ActivityEnable(kind);
  if (wanted_[1 - side].HasKind(kind)) return CUPTI_SUCCESS;
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
  SetBuffersAreTheirs(true);
  BringBack();
  g_counters.Add(Health::kOtherClientSessions);
}

// Those of its buffers that are filled now come back by the flush with which it ends.
void SharedSession::End() { SetBuffersAreTheirs(false); }

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

void SharedSession::HandOverKept() {
  const auto kept = their_buffers_.TakeKept();
  if (!kept) return;
  if (const auto tell = complete())
    tell(kept->context, kept->stream, kept->buffer, kept->size, kept->valid_bytes);
}

CUptiResult SharedSession::Flush(std::uint32_t flags) {
  their_buffers_.SetOurFlush(true);
  const CUptiResult result = cupti()->ActivityFlushAll(flags);
  their_buffers_.SetOurFlush(false);
  return result;
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
  if (side == kTheirs && was_on && !wanted_[kTheirs].HasAnyKind()) {
    End();
    busy_.store(false, std::memory_order_relaxed);
  }
  const Side other = side == kOurs ? kTheirs : kOurs;
  if (wanted_[other].HasKind(kind)) return CUPTI_SUCCESS;
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && KernelsAreSerial()) return CUPTI_SUCCESS;
  const CUptiResult result = cupti()->ActivityDisable(kind);
  if (kind == CUPTI_ACTIVITY_KIND_KERNEL && was_on &&
      wanted_[kOurs].HasKind(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
    cupti()->ActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (WantedRecords::IsCalls(kind)) RestoreCalls(other, WantedRecords::DomainOf(kind));
  RestoreTwin(kind);
  return result;
}

// Copies and memsets go off together, while CUPTI takes the other kind to be on still: to turn that
// on has no effect until it was turned off (tests/gpu/cupti_gpu_time.cc).
void SharedSession::RestoreTwin(CUpti_ActivityKind kind) const {
  const CUpti_ActivityKind twin = TwinOf(kind);
  if (!wanted_[kOurs].HasKind(twin) && !wanted_[kTheirs].HasKind(twin)) return;
  cupti()->ActivityDisable(twin);
  cupti()->ActivityEnable(twin);
}

// The kind was turned off, and with it every call.
void SharedSession::RestoreCalls(Side side, CudaDomain domain) const {
  for (std::uint32_t cbid = 0; cbid < WantedRecords::kCalls; ++cbid) {
    if (wanted_[side].HasCall(domain, cbid)) SwitchCall(domain, cbid, true);
  }
}

CUptiResult SharedSession::SetCall(Side side, CudaDomain domain, std::uint32_t cbid, bool on) {
  if (side == kTheirs && on) SetBusy();
  if (domain == CudaDomain::kRuntime && on) NoteHarm();
  wanted_[side].SetCall(domain, cbid, on);
  if (side == kTheirs) delivered_.SetCall(domain, cbid, on);
  if (wanted_[1 - side].HasCall(domain, cbid)) return CUPTI_SUCCESS;  // it is on, and stays so
  return SwitchCall(domain, cbid, on);
}

CUptiResult SharedSession::SwitchCall(CudaDomain domain, std::uint32_t cbid, bool on) const {
  const auto enable = domain == CudaDomain::kRuntime ? cupti()->ActivityEnableRuntimeApi
                                                     : cupti()->ActivityEnableDriverApi;
  return enable == nullptr ? CUPTI_ERROR_NOT_SUPPORTED : enable(cbid, on ? 1 : 0);
}

void SharedSession::TakenAway() {
  End();
  busy_.store(false, std::memory_order_relaxed);
  for (WantedRecords& wanted : wanted_) wanted.CopyFrom(kNothing);
  lent_.store(0, std::memory_order_relaxed);
  their_buffers_.Forget();
  g_record_clocks.Use(nullptr);
  taken_away_count_.fetch_add(1, std::memory_order_acq_rel);
}

void SharedSession::StandAside() {
  presence_.store(Presence::kAside, std::memory_order_release);
  TakenAway();
}

void SharedSession::Finalized(std::int64_t time_ns) {
  TakenAway();
  finalized_ns_.store(time_ns, std::memory_order_release);
}

}  // namespace traceinject
