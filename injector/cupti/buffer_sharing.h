// SPDX-License-Identifier: Apache-2.0
// Records of one activity buffer that two clients of CUPTI want. Called in the callback with which
// a buffer comes back; takes no lock and does not allocate.
//
// Of a runtime call and the driver call inside it, CUPTI tells the outer one where both are on. So
// where the other client has the runtime's on, those are ours, too: the driver's, which we have on,
// do not come. If both come for a launch all the same, the inner one is taken out. PyTorch's
// profiler fails on two launches with one correlation id.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "injector/base/counters.h"
#include "injector/cupti/record_walk.h"
#include "injector/cupti/shared_session.h"

namespace traceinject {

// copy(record, bytes) for each record that we want; those that the other client would not have
// without us are taken out.
template <typename Copy>
class Division {
 public:
  Division(SharedSession& session, std::uint8_t* buffer, int lend, Copy copy)
      : session_(session), lend_(lend), kept_(buffer), copy_(copy) {}

  // Each record in turn, with memory that may be written to once the next one is added.
  void Add(CUpti_Activity* record, std::size_t bytes) {
    if (WantedRecords::IsCalls(record->kind))
      latest_call_ = LaterCorrelation(latest_call_, CallOf(record).correlationId);
    const std::uint32_t runtime_call =
        record->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? CallOf(record).correlationId : 0;
    if (launch_ != nullptr && IsInside(launch_, runtime_call)) {
      TakeOutInner();
    } else {
      Settle();
    }
    if (IsDriversLaunch(record)) {
      launch_ = record;
      launch_bytes_ = bytes;
      if (IsInside(launch_, last_runtime_call_)) TakeOutInner();
      return;
    }
    last_runtime_call_ = runtime_call;
    Divide(record, bytes);
  }
  // After the last one: where what remains ends, without holes.
  std::uint8_t* End() {
    Settle();
    if (latest_call_ != 0) session_.NoteCall(latest_call_);
    return kept_;
  }

 private:
  static const ApiRecord& CallOf(const CUpti_Activity* record) {
    return *reinterpret_cast<const ApiRecord*>(record);
  }
  static bool IsDriversLaunch(const CUpti_Activity* record) {
    return record->kind == CUPTI_ACTIVITY_KIND_DRIVER &&
           IsLaunch(CudaDomain::kDriver, CallOf(record).cbid);
  }

  // `runtime_call`: a correlation id; 0: of none.
  static bool IsInside(const CUpti_Activity* call, std::uint32_t runtime_call) {
    return runtime_call != 0 && CallOf(call).correlationId == runtime_call;
  }

  void TakeOutInner() {
    launch_ = nullptr;
    g_counters.Add(Health::kApiNested);
  }
  // There is no call around the driver's launch that waits.
  void Settle() {
    if (launch_ != nullptr) Divide(launch_, launch_bytes_);
    launch_ = nullptr;
  }

  void Divide(CUpti_Activity* record, std::size_t bytes) {
    if (IsOurs(record)) copy_(record, BytesWorthCopying(record->kind, bytes));
    if (!IsTheirs(record)) return;
    std::memmove(kept_, record, bytes);
    kept_ += bytes;
  }
  // Kinds that we cannot know are none of ours.
  bool IsTheirs(const CUpti_Activity* record) const {
    return !WantedRecords::IsKind(record->kind) ||
           (session_.delivered().Has(record) && !session_.IsOwnCall(record));
  }
  // Ours may go off meanwhile: what they are is looked at first.
  bool IsOurs(const CUpti_Activity* record) const {
    return IsIn(session_.wanted(SharedSession::kOurs), record) ||
           (session_.HasEndedSince(lend_) && IsIn(session_.wanted_until_end(), record));
  }
  static bool IsIn(const WantedRecords& ours, const CUpti_Activity* record) {
    return ours.Has(record) ||
           (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME &&
            ours.HasCall(CudaDomain::kDriver, kLaunchCall) &&
            FindAllowedCall(CudaDomain::kRuntime, CallOf(record).cbid) != nullptr);
  }

  SharedSession& session_;
  const int lend_;
  std::uint8_t* kept_;
  Copy copy_;
  CUpti_Activity* launch_ = nullptr;  // of the driver's, which the next call may be around
  std::size_t launch_bytes_ = 0;
  std::uint32_t last_runtime_call_ = 0;  // if the last record is one
  std::uint32_t latest_call_ = 0;        // 0: none
};

// Returns how many bytes of a buffer of the other client's remain. `lend`: of the buffer
// (SharedSession::TakeLend).
template <typename Copy>
std::size_t Divide(SharedSession& session, std::uint8_t* buffer, std::size_t valid_bytes, int lend,
                   Copy copy) {
  Division<Copy> division(session, buffer, lend, copy);
  const bool whole = ForEachRecord(
      *session.cupti(), buffer, valid_bytes,
      [&](CUpti_Activity* record, std::size_t bytes) { division.Add(record, bytes); });
  if (!whole) g_counters.Add(Health::kBuffersDamaged);
  return static_cast<std::size_t>(division.End() - buffer);
}

}  // namespace traceinject
