// SPDX-License-Identifier: Apache-2.0
// Which activity records one client of CUPTI asked for. Written by the thread that asks, read by
// the threads on which buffers come back.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "injector/cupti/allow_list.h"
#include "injector/cupti/call_switches.h"
#include "injector/cupti/records.h"

namespace traceinject {

class WantedRecords {
 public:
  static constexpr std::size_t kCalls = CallSwitches::kCalls;

  // Kinds of newer versions of CUPTI are looked after as well: another client may want them.
  static constexpr int kKinds = 256;
  static_assert(CUPTI_ACTIVITY_KIND_COUNT < kKinds / 2);

  static bool IsKind(CUpti_ActivityKind kind) {
    return kind > CUPTI_ACTIVITY_KIND_INVALID && static_cast<int>(kind) < kKinds;
  }

  // As cuptiActivityEnable and cuptiActivityDisable: a kind of calls is all of them.
  void SetKind(CUpti_ActivityKind kind, bool on) {
    if (!IsKind(kind) || kinds_[kind].exchange(on) == on) return;
    count_.fetch_add(on ? 1 : -1);
    if (IsCalls(kind)) {
      for (auto& call : CallsOf(DomainOf(kind))) call.store(kAsKind, std::memory_order_relaxed);
    }
  }
  // As cuptiActivityEnableRuntimeApi and cuptiActivityEnableDriverApi.
  void SetCall(CudaDomain domain, std::uint32_t cbid, bool on) {
    if (cbid < kCalls) CallsOf(domain)[cbid].store(on ? kOn : kOff, std::memory_order_release);
  }

  void CopyFrom(const WantedRecords& other) {
    for (int kind = 1; kind < kKinds; ++kind) {
      const auto one = static_cast<CUpti_ActivityKind>(kind);
      SetKind(one, other.HasKind(one));
    }
    for (std::size_t cbid = 0; cbid < kCalls; ++cbid) {
      runtime_[cbid].store(other.runtime_[cbid].load());
      driver_[cbid].store(other.driver_[cbid].load());
    }
  }

  bool HasKind(CUpti_ActivityKind kind) const {
    return IsKind(kind) && kinds_[kind].load(std::memory_order_acquire);
  }
  bool HasCall(CudaDomain domain, std::uint32_t cbid) const {
    const Choice choice =
        cbid < kCalls ? CallsOf(domain)[cbid].load(std::memory_order_acquire) : kAsKind;
    return choice == kAsKind ? HasKind(KindOfCalls(domain)) : choice == kOn;
  }
  // Kernels one at a time are told of instead of concurrent ones.
  bool Has(const CUpti_Activity* record) const {
    if (record->kind == CUPTI_ACTIVITY_KIND_KERNEL &&
        HasKind(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
      return true;
    if (!IsCalls(record->kind)) return HasKind(record->kind);
    return HasCall(DomainOf(record->kind), reinterpret_cast<const ApiRecord*>(record)->cbid);
  }
  bool HasAnyKind() const { return count_.load(std::memory_order_acquire) != 0; }

  static bool IsCalls(CUpti_ActivityKind kind) {
    return kind == CUPTI_ACTIVITY_KIND_RUNTIME || kind == CUPTI_ACTIVITY_KIND_DRIVER;
  }
  static CudaDomain DomainOf(CUpti_ActivityKind kind) {
    return kind == CUPTI_ACTIVITY_KIND_DRIVER ? CudaDomain::kDriver : CudaDomain::kRuntime;
  }

 private:
  enum Choice : std::uint8_t { kAsKind, kOn, kOff };
  using Calls = std::atomic<Choice>[kCalls];

  Calls& CallsOf(CudaDomain domain) { return domain == CudaDomain::kDriver ? driver_ : runtime_; }
  const Calls& CallsOf(CudaDomain domain) const {
    return domain == CudaDomain::kDriver ? driver_ : runtime_;
  }

  std::atomic<bool> kinds_[kKinds] = {};
  std::atomic<int> count_{0};  // of kinds
  Calls runtime_ = {}, driver_ = {};
};

}  // namespace traceinject
