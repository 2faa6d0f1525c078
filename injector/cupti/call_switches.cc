// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/call_switches.h"

#include <cstdint>

namespace traceinject {
namespace {

std::uint32_t HookOf(CudaDomain domain) {
  return domain == CudaDomain::kDriver ? kDriverHookCall : kRuntimeHookCall;
}

CUptiResult Switch(const CuptiLibrary& cupti, CudaDomain domain, std::uint32_t cbid, bool on) {
  const auto enable = domain == CudaDomain::kRuntime ? cupti.ActivityEnableRuntimeApi
                                                     : cupti.ActivityEnableDriverApi;
  return enable(cbid, on ? 1 : 0);
}

}  // namespace

void CallSwitches::Hook(const CuptiLibrary& cupti, CudaDomain domain) {
  if (Switch(cupti, domain, HookOf(domain), true) != CUPTI_SUCCESS) return;
  Of(domain).hooked = true;
  Of(domain).on.set(HookOf(domain));
}

CUptiResult CallSwitches::Set(const CuptiLibrary& cupti, CudaDomain domain, const Calls& wanted) {
  Domain& of = Of(domain);
  if (!of.hooked && !of.kind_on && wanted.any()) {
    const CUptiResult result = cupti.ActivityEnable(KindOfCalls(domain));
    if (result != CUPTI_SUCCESS) return result;
    of.kind_on = true;
    of.on.set().reset(0);
  }
  Calls target = wanted;
  if (of.hooked) target.set(HookOf(domain));
  CUptiResult refusal = CUPTI_SUCCESS;
  bool any = false;
  for (std::uint32_t cbid = 1; cbid < kCalls; ++cbid) {
    if (of.on[cbid] == target[cbid]) continue;
    const CUptiResult result = Switch(cupti, domain, cbid, target[cbid]);
    if (result == CUPTI_SUCCESS) any = true;
    if (result != CUPTI_SUCCESS) refusal = result;
    // One that this version does not know is not tried again.
    if (result == CUPTI_SUCCESS || result == CUPTI_ERROR_INVALID_PARAMETER)
      of.on[cbid] = target[cbid];
  }
  return any ? CUPTI_SUCCESS : refusal;
}

void CallSwitches::TurnKindsOff(const CuptiLibrary& cupti) {
  for (const CudaDomain domain : {CudaDomain::kRuntime, CudaDomain::kDriver}) {
    Domain& of = Of(domain);
    if (of.kind_on && cupti.ActivityDisable(KindOfCalls(domain)) == CUPTI_SUCCESS)
      of.kind_on = false;
  }
}

}  // namespace traceinject
