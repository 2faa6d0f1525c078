// SPDX-License-Identifier: Apache-2.0
// Which CUDA calls CUPTI tells. As measured (tests/gpu/cupti/cupti_calls.cc):
//
// * A call that is turned on alone is told only in a domain that CUPTI is hooked into: one of which
//   any call was on when cuInit ended, or all of which is on as a kind.
// * To turn the kind off unhooks the domain for good, and so does cuptiFinalize(). All calls stay
//   on then; turned on again, they have no effect.
// * Of a runtime call and the driver's inside it the outer one is told, if it is on. While a kind
//   is on, the inner one is not reported even if the outer one is off.
//
// * Who turns a kind off while a thread is in a call of it leaves all later calls of that thread
//   with one correlation id, as if they were inside that call. To turn a kind on does no harm.
//
// So the domains are hooked within cuInit. From then on no kind of calls is turned on: all of its
// calls are, one by one, of which the same records come. Once a domain is not hooked any more, its
// kind is turned on with the first call that is wanted, and stays on; all other calls of it are
// off.
#pragma once

#include <cupti.h>

#include <bitset>
#include <cstddef>

#include "injector/cupti/allow_list.h"
#include "injector/cupti/library.h"

namespace traceinject {

constexpr CUpti_ActivityKind KindOfCalls(CudaDomain domain) {
  return domain == CudaDomain::kDriver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME;
}

// Calls that change something come from one thread at a time. The CUPTI that is given can select
// calls (CuptiLibrary::SelectsCalls).
class CallSwitches {
 public:
  static constexpr std::size_t kCalls = 1024;  // above the largest callback id of CUDA 13
  using Calls = std::bitset<kCalls>;           // by callback id

  // Within cuInit. A call that nobody makes is on from then on.
  void Hook(const CuptiLibrary& cupti, CudaDomain domain);
  bool IsHooked(CudaDomain domain) const { return Of(domain).hooked; }
  // Whether a call that is turned on now is told.
  bool Tells(CudaDomain domain) const { return Of(domain).hooked || Of(domain).kind_on; }

  // Turns these on, and all others off. An error only if none of those to be turned on or off was:
  // versions differ in the calls that they know. A millisecond if it is all of them.
  CUptiResult Set(const CuptiLibrary& cupti, CudaDomain domain, const Calls& wanted);

  // Just before cuptiFinalize(), whose safety was measured without them: kinds go off.
  void TurnKindsOff(const CuptiLibrary& cupti);
  // CUPTI was taken away: nothing is on, and no domain is hooked.
  void Forget() { runtime_ = driver_ = {}; }
  bool AnyOn() const { return runtime_.on.any() || driver_.on.any(); }

 private:
  struct Domain {
    bool hooked = false, kind_on = false;
    Calls on;
  };

  Domain& Of(CudaDomain domain) { return domain == CudaDomain::kDriver ? driver_ : runtime_; }
  const Domain& Of(CudaDomain domain) const {
    return domain == CudaDomain::kDriver ? driver_ : runtime_;
  }

  Domain runtime_, driver_;
};

}  // namespace traceinject
