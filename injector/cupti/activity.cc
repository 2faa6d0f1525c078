// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/activity.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include "injector/base/clock.h"
#include "injector/base/counters.h"
#include "injector/base/ring.h"
#include "injector/cupti/activity_kinds.h"
#include "injector/cupti/allow_list.h"
#include "injector/cupti/buffer_pool.h"
#include "injector/cupti/buffer_sharing.h"
#include "injector/cupti/discarded_buffers.h"
#include "injector/cupti/errors.h"
#include "injector/cupti/name_table.h"
#include "injector/cupti/record_clock.h"
#include "injector/cupti/record_copies.h"
#include "injector/cupti/record_walk.h"
#include "injector/cupti/shared_session.h"

namespace traceinject {
namespace {

// cuptiGetVersion from which a null buffer is a legal answer; older versions crash on it (release
// notes of 12.9).
constexpr std::uint32_t kNullBufferAllowed = 27;
// So many buffers waiting wake the writer before its time.
constexpr int kWakeAt = 4;

// A buffer on its way from CUPTI's thread to the writer. CUPTI's callbacks have no user pointer, so
// this state is the file's.
struct Node {
  CompletedBuffer buffer;
  Node* next = nullptr;
};

BufferPool g_pool;
NameTable& Names() {
  static auto* names =
      new NameTable;  // never destroyed: CUPTI's thread may outlive static destructors
  return *names;
}
CuptiLibrary* g_cupti = nullptr;
std::atomic<Node*> g_completed{nullptr};
std::atomic<int> g_waiting{0};
constinit DiscardedBuffers g_discarded;

void LendOurs(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *max_records = 0;
  *size = BufferPool::kBufferBytes;
  *buffer = g_pool.Take();
  if (*buffer != nullptr) {
    g_counters.Add(Health::kBuffersRequested);
    g_shared_session.Lent();
    return;
  }
  g_counters.Add(Health::kBuffersExhausted);
  g_wake.Post();
  const bool refuses = g_cupti->version >= kNullBufferAllowed;
  *size = refuses ? 0 : DiscardedBuffers::kBytes;
  *buffer = refuses ? nullptr : g_discarded.Lend();
}

void CUPTIAPI OnBufferRequested(std::uint8_t** buffer, std::size_t* size,
                                std::size_t* max_records) {
  if (g_shared_session.BuffersAreTheirs()) {
    *buffer = nullptr;
    g_shared_session.request()(buffer, size, max_records);
    if (*buffer != nullptr) return g_shared_session.LentByThem(*buffer);
  }
  LendOurs(buffer, size, max_records);
}

// Copies a kernel's name now: CUPTI may free it once this callback returns. False: there is no
// memory for it.
bool InternName(CUpti_Activity* record) {
  if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
      record->kind != CUPTI_ACTIVITY_KIND_KERNEL)
    return true;
  auto* kernel = reinterpret_cast<KernelRecord*>(record);
  try {  // CUPTI's frames are not made for exceptions
    kernel->name = Names().Intern(kernel->name);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

// False: there is no memory for them.
bool InternNames(std::uint8_t* buffer, std::size_t valid_bytes) {
  bool all = true;
  ForEachRecord(*g_cupti, buffer, valid_bytes,
                [&](CUpti_Activity* record, std::size_t) { all = all && InternName(record); });
  return all;
}

// There is no memory for what a buffer of ours brought.
void Drop(std::uint8_t* buffer, std::size_t valid_bytes) {
  std::int64_t records = 0;
  ForEachRecord(*g_cupti, buffer, valid_bytes, [&](CUpti_Activity*, std::size_t) { ++records; });
  g_counters.Add(Health::kCuptiDropped, records);
  g_pool.Return(buffer);
}

void CountDropped(CUcontext context, std::uint32_t stream) {
  std::size_t dropped = 0;
  if (g_cupti->ActivityGetNumDroppedRecords != nullptr &&
      CuptiSucceeded("cuptiActivityGetNumDroppedRecords",
                     g_cupti->ActivityGetNumDroppedRecords(context, stream, &dropped)) &&
      dropped != 0) {
    g_counters.Add(Health::kCuptiDropped, static_cast<std::int64_t>(dropped));
  }
}

// Hands a buffer of ours to the writer. The names in it are copies.
void Queue(std::uint8_t* buffer, std::size_t valid_bytes, bool copied) {
  Node* node = new (std::nothrow) Node{
      {buffer, valid_bytes, copied, g_record_clocks.current(), g_shared_session.taken_away_count()},
      g_completed.load(std::memory_order_relaxed)};
  if (node == nullptr) return Drop(buffer, valid_bytes);
  while (!g_completed.compare_exchange_weak(node->next, node, std::memory_order_release,
                                            std::memory_order_relaxed)) {
  }
  if (g_waiting.fetch_add(1, std::memory_order_relaxed) + 1 >= kWakeAt) g_wake.Post();
}

std::uint8_t* TakeForCopies() {
  std::uint8_t* buffer = g_pool.Take();
  if (buffer == nullptr) {
    g_wake.Post();
  } else {
    g_counters.Add(Health::kBuffersRequested);
  }
  return buffer;
}

void DeliverCopies(std::uint8_t* buffer, std::size_t bytes) {
  g_counters.Add(Health::kBuffersCompleted);
  Queue(buffer, bytes, true);
}

void Share(const TheirBuffers::Completed& completed) {
  TheirBuffers::Completed kept = completed;
  const int lend = g_shared_session.TakeLend(completed.buffer);
  {
    RecordCopies copies({TakeForCopies, InternName, DeliverCopies});
    kept.valid_bytes = Divide(
        g_shared_session, completed.buffer, std::min(completed.valid_bytes, completed.size), lend,
        [&](const CUpti_Activity* record, std::size_t bytes) { copies.Add(record, bytes); });
  }
  g_shared_session.HandOver(kept);
}

void CUPTIAPI OnBufferCompleted(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                std::size_t size, std::size_t valid_bytes) {
  if (buffer == nullptr) return g_counters.Add(Health::kBuffersDamaged);
  if (g_discarded.TakeBack(buffer)) return;  // its records are lost; the request is counted
  CountDropped(context, stream);
  if (!g_pool.Owns(buffer)) return Share({context, stream, buffer, size, valid_bytes});
  g_counters.Add(Health::kBuffersCompleted);
  g_shared_session.CameBack();
  valid_bytes = std::min(valid_bytes, BufferPool::kBufferBytes);
  if (valid_bytes == 0) {
    g_pool.Return(buffer);
    return;
  }
  if (!InternNames(buffer, valid_bytes)) return Drop(buffer, valid_bytes);
  Queue(buffer, valid_bytes, false);
}

bool AreCalls(std::string_view name) {
  return FindActivityKind(name)->kind == CUPTI_ACTIVITY_KIND_INVALID;
}

}  // namespace

bool Activity::Register(CuptiLibrary* cupti, const Options& options, std::string* why) {
  cupti_ = g_cupti = cupti;
  kinds_ = options.kinds;
  runtime_calls_ = !options.detach;  // else it could never be left (SharedSession::CanBeFinalized)
  g_pool.SetLimit(options.buffer_bytes);
  if (!RegisterCallbacks(why)) return false;
  const FlushTurn turn;
  g_shared_session.HookCalls(runtime_calls_, std::any_of(kinds_.begin(), kinds_.end(), AreCalls));
  HoldKinds();
  return true;
}

bool Activity::RegisterCallbacks(std::string* why) {
  const FlushTurn turn;
  const CUptiResult result = g_shared_session.Attach(cupti_, OnBufferRequested, OnBufferCompleted);
  if (result == CUPTI_SUCCESS) return true;
  *why = "CUPTI rejected the callbacks: " + cupti_->Describe(result) +
         (result == CUPTI_ERROR_NOT_INITIALIZED ? "; the GPU driver is too old for " + cupti_->path
                                                : "");
  return false;
}

// Before 12.5 there are only whole kinds, which record it, too.
void Activity::SwitchProbes(bool on) {
  if (cupti_->ActivityEnableDriverApi != nullptr)
    g_shared_session.SetCall(SharedSession::kOurs, CudaDomain::kDriver, kProbeCall, on);
}

void Activity::RecordProbes() {
  if (std::exchange(probing_, true)) return;
  const FlushTurn turn;
  if (g_shared_session.wanted(SharedSession::kOurs).HasAnyKind()) SwitchProbes(true);
}

void Activity::RecordProbesAlone(bool on) {
  const FlushTurn turn;
  SwitchProbes(on);
}

void Activity::StandAside() {
  if (g_shared_session.suspended()) return;
  g_pool.WriteOff();
  g_discarded.WriteOff();
  g_shared_session.StandAside();
}

void Activity::BringBack() {
  if (!g_shared_session.attached()) return;
  const FlushTurn turn;
  brought_back_ns_ = NowNs();
  g_pool.MarkFlush(brought_back_ns_);
  g_shared_session.BringBack();
}

bool Activity::CanLeave() const {
  return g_shared_session.attached() && cupti_->Finalize != nullptr &&
         !g_shared_session.IsUsedByThem() && g_shared_session.CanBeFinalized();
}

// One on its way from CUPTI's thread to the queue is counted as back, and is in nobody's hands.
bool Activity::IsOneGone() const {
  return g_shared_session.HasLent() && g_pool.OldestFlushNs() < brought_back_ns_;
}

bool Activity::Leave() {
  const FlushTurn turn;
  if (!CanLeave() || !CuptiSucceeded("cuptiFinalize", g_shared_session.Leave())) return false;
  std::vector<const std::uint8_t*> waiting;  // came back while we left
  for (const Node* node = g_completed.load(std::memory_order_acquire); node != nullptr;
       node = node->next)
    waiting.push_back(node->buffer.data);
  g_pool.Reclaim(waiting);
  g_discarded.Reclaim();
  return true;
}

bool Activity::Start(std::vector<std::string>* disabled, std::string* why) {
  if (!g_shared_session.attached()) return true;
  const FlushTurn turn;
  g_shared_session.Return();  // CUPTI may have been taken away while a safe point was waited for
  MarkFlush(NowNs());         // of what was done by now nothing is recorded
  // Calls first: they take a millisecond, in which no work is to be recorded without its call.
  bool anything = std::any_of(kinds_.begin(), kinds_.end(), AreCalls) && EnableCalls(disabled);
  for (const std::string& name : kinds_) {
    if (AreCalls(name)) continue;
    const ActivityKind kind = *FindActivityKind(name);
    const CUptiResult result = g_shared_session.SetKind(SharedSession::kOurs, kind.kind, true);
    if (result == CUPTI_SUCCESS) {
      anything = true;
    } else {
      disabled->push_back(name + ": CUPTI rejected it: " + cupti_->Describe(result));
      *why = disabled->back();
    }
  }
  if (!anything && why->empty()) *why = "TRACEINJECT_KINDS lists nothing to record";
  if (probing_) SwitchProbes(true);
  return anything;
}

bool Activity::EnableCalls(std::vector<std::string>* disabled) {
  if (!cupti_->SelectsCalls()) {
    // Before 12.5 there are only whole kinds; the decoder drops the calls that are not on the list.
    disabled->push_back(
        "api: this CUPTI (version " + std::to_string(cupti_->version) +
        ") cannot select single calls: all CUDA calls are traced, which costs more");
    bool anything = false;
    for (const CUpti_ActivityKind kind :
         {CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_RUNTIME}) {
      if (kind == CUPTI_ACTIVITY_KIND_DRIVER || runtime_calls_)
        anything |= g_shared_session.SetKind(SharedSession::kOurs, kind, true) == CUPTI_SUCCESS;
    }
    return anything;
  }
  bool anything = SetCalls(kAllowList, true);
  if (!g_shared_session.TellsInnerCalls()) {
    anything |= SetCalls(kLaunchesInRuntime, true);
    if (!runtime_calls_)
      disabled->push_back(
          "api: after detaching (TRACEINJECT_DETACH) CUPTI no longer reports launches through the "
          "CUDA runtime: their kernels have no launch call");
  }
  if (!anything) disabled->push_back("api: CUPTI rejected every call in the list");
  return anything;
}

// False: none of them. A version that does not know a newer call refuses it: nothing is lost.
bool Activity::SetCalls(std::span<const AllowedCall> calls, bool on) const {
  const WantedRecords& wanted = g_shared_session.wanted(SharedSession::kOurs);
  bool anything = false;
  for (const CudaDomain domain : {CudaDomain::kRuntime, CudaDomain::kDriver}) {
    if (domain == CudaDomain::kRuntime && !runtime_calls_) continue;
    CallSwitches::Calls of_domain;
    for (const AllowedCall& call : calls) {
      if (call.domain == domain && (on || wanted.HasCall(domain, call.cbid)))
        of_domain.set(call.cbid);
    }
    if (of_domain.none()) continue;  // nothing was ever on, maybe there is no CUPTI
    anything |=
        g_shared_session.SetCalls(SharedSession::kOurs, domain, of_domain, on) == CUPTI_SUCCESS;
  }
  return anything;
}

bool Activity::Flush(bool everything) {
  if (!g_shared_session.attached()) return true;
  const FlushTurn turn;
  const CUptiResult result =
      g_shared_session.Flush(everything ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
  CountDropped(nullptr, 0);  // after the last buffer that came back
  return CuptiSucceeded("cuptiActivityFlushAll", result);
}

// All but kernels, which the other client records itself, maybe one at a time.
void Activity::HoldKinds() const {
  SharedSession::Kinds held;
  for (const std::string& name : kinds_) {
    const CUpti_ActivityKind kind = FindActivityKind(name)->kind;
    if (!AreCalls(name) && kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      held.set(static_cast<std::size_t>(kind));
  }
  g_shared_session.SetHeldKinds(held);
}

void Activity::LeaveMemsetsOut() {
  const auto memset = std::find(kinds_.begin(), kinds_.end(), "memset");
  if (memset != kinds_.end()) kinds_.erase(memset);
  if (!g_shared_session.attached()) return;
  const FlushTurn turn;
  HoldKinds();
  CuptiSucceeded("cuptiActivityDisable",
                 g_shared_session.SetKind(SharedSession::kOurs, CUPTI_ACTIVITY_KIND_MEMSET, false));
}

void Activity::Stop() {
  if (!g_shared_session.attached()) return;
  const FlushTurn turn;
  CuptiSucceeded("cuptiActivityDisable", g_shared_session.DisableOurs());
  SetCalls(kAllowList, false);
  SetCalls(kLaunchesInRuntime, false);
  if (probing_) SwitchProbes(false);
}

std::int64_t Activity::TakeFinalized() { return g_shared_session.TakeFinalized(); }

std::vector<CompletedBuffer> Activity::TakeCompleted() {
  Node* node = g_completed.exchange(nullptr, std::memory_order_acquire);
  std::vector<CompletedBuffer> buffers;
  while (node != nullptr) {
    buffers.push_back(node->buffer);
    Node* next = node->next;
    delete node;
    node = next;
  }
  g_waiting.fetch_sub(static_cast<int>(buffers.size()), std::memory_order_relaxed);
  std::reverse(buffers.begin(), buffers.end());
  return buffers;
}

void Activity::MarkFlush(std::int64_t now_ns) { g_pool.MarkFlush(now_ns); }

std::int64_t Activity::FlushBeforeOldestNs() const { return g_pool.OldestFlushNs(); }

void Activity::Recycle(const CompletedBuffer& buffer) { g_pool.Return(buffer.data); }

}  // namespace traceinject
