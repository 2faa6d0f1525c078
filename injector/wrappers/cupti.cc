// SPDX-License-Identifier: Apache-2.0
// Wrappers of CUPTI's activity API, exported so that the dynamic linker binds another client's
// calls to them: libtorch_cpu.so is linked with libcupti. Without them torch.profiler would take
// our buffer callbacks and turn our kinds off, and neither of us would record everything.
//
// While nothing is recorded, in a forked child, and for a copy of CUPTI that is not ours, a call
// goes through as it is.
#include <cupti.h>

#include <cstdint>

#include "injector/base/before_finalize.h"
#include "injector/base/clock.h"
#include "injector/base/exported.h"
#include "injector/base/real_function.h"
#include "injector/base/ring.h"
#include "injector/base/state.h"
#include "injector/cupti/record_clock.h"
#include "injector/cupti/shared_session.h"

namespace traceinject {
namespace {

constexpr char kCupti[] = "libcupti.so";
// Longer than a flush takes; after it a client that waits for one of ours goes on regardless.
constexpr std::int64_t kLongestTurnNs = 10'000'000'000;

using Side = SharedSession::Side;

// Whether there is a session that a call may concern.
bool IsShared() {
  return g_shared_session.cupti() != nullptr &&
         g_state.load(std::memory_order_relaxed) != State::kDead;
}
// And `function` is of the copy of CUPTI that it runs on, or of another library in front of CUPTI:
// of which copy that is cannot be told then, and there is one as a rule.
template <typename Function>
bool IsShared(Function* function, Function* CuptiLibrary::*ours) {
  if (!IsShared()) return false;
  return g_shared_session.cupti()->*ours == function ||
         !IsOfLibrary(reinterpret_cast<const void*>(function), kCupti);
}

// A client's call that may begin something: not beside a flush of ours, and with us there.
class BeginningTurn {
 public:
  BeginningTurn() { g_shared_session.Return(); }

 private:
  FlushTurn turn_{kLongestTurnNs};
};

// A client's call by which its buffers come back.
class TheirFlush {
 public:
  TheirFlush() { g_shared_session.BeginTheirFlush(); }
  ~TheirFlush() { g_shared_session.EndTheirFlush(); }
  TheirFlush(const TheirFlush&) = delete;
  TheirFlush& operator=(const TheirFlush&) = delete;

 private:
  FlushTurn turn_{kLongestTurnNs};
};

// CUPTI turns the GPU's times into its clock's when a buffer comes back: those that were filled
// before the change come back first. Each session of PyTorch's profiler sets the same clock anew.
CUptiResult ChangeClock(CUptiResult (*change)(CUpti_TimestampCallbackFunc),
                        CUpti_TimestampCallbackFunc source) {
  const BeginningTurn turn;
  g_shared_session.SetBusy();
  if (g_record_clocks.IsInForce(source)) return CUPTI_SUCCESS;
  g_shared_session.BringBack();
  const CUptiResult result = change(source);
  if (result == CUPTI_SUCCESS) g_record_clocks.Use(source);
  // What another thread began to fill meanwhile is of both clocks: as little as can be.
  g_shared_session.Flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  return result;
}

CUptiResult Finalize(CUptiResult (*finalize)()) {
  const TheirFlush flush;
  if (const auto give_back = g_before_finalize.load(std::memory_order_acquire)) give_back();
  const CUptiResult result = finalize();
  if (result == CUPTI_SUCCESS) {
    g_shared_session.Finalized(NowNs());
    g_wake.Post();
  }
  return result;
}

}  // namespace
}  // namespace traceinject

// One wrapper: its name, parameters, arguments, whether the session is concerned, and what is done
// then.
#define TRACEINJECT_CUPTI(name, parameters, arguments, shared, ...)                \
  extern "C" TRACEINJECT_EXPORT CUptiResult CUPTIAPI name parameters {             \
    using namespace traceinject;                                                   \
    static constinit RealFunction<CUptiResult parameters> real;                    \
    [[maybe_unused]] auto* function = real.Get(kCupti, #name, TRACEINJECT_CALLER); \
    if (function == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;                   \
    if (!(shared)) return function arguments;                                      \
    __VA_ARGS__                                                                    \
  }

TRACEINJECT_CUPTI(cuptiActivityRegisterCallbacks,
                  (CUpti_BuffersCallbackRequestFunc request,
                   CUpti_BuffersCallbackCompleteFunc complete),
                  (request, complete), IsShared(function, &CuptiLibrary::ActivityRegisterCallbacks),
                  {
                    if (request == nullptr || complete == nullptr)
                      return CUPTI_ERROR_INVALID_PARAMETER;
                    const BeginningTurn turn;
                    g_shared_session.Register(request, complete);
                    return CUPTI_SUCCESS;
                  })

TRACEINJECT_CUPTI(cuptiActivityEnable, (CUpti_ActivityKind kind), (kind),
                  IsShared(function, &CuptiLibrary::ActivityEnable), {
                    const BeginningTurn turn;
                    return g_shared_session.SetKind(Side::kTheirs, kind, true);
                  })

TRACEINJECT_CUPTI(cuptiActivityDisable, (CUpti_ActivityKind kind), (kind),
                  IsShared(function, &CuptiLibrary::ActivityDisable), {
                    const FlushTurn turn(kLongestTurnNs);
                    return g_shared_session.SetKind(Side::kTheirs, kind, false);
                  })

TRACEINJECT_CUPTI(cuptiActivityEnableRuntimeApi, (CUpti_CallbackId cbid, std::uint8_t enable),
                  (cbid, enable), IsShared(function, &CuptiLibrary::ActivityEnableRuntimeApi), {
                    const BeginningTurn turn;
                    return g_shared_session.SetCall(Side::kTheirs, CudaDomain::kRuntime, cbid,
                                                    enable != 0);
                  })

TRACEINJECT_CUPTI(cuptiActivityEnableDriverApi, (CUpti_CallbackId cbid, std::uint8_t enable),
                  (cbid, enable), IsShared(function, &CuptiLibrary::ActivityEnableDriverApi), {
                    const BeginningTurn turn;
                    return g_shared_session.SetCall(Side::kTheirs, CudaDomain::kDriver, cbid,
                                                    enable != 0);
                  })

TRACEINJECT_CUPTI(cuptiActivityFlushAll, (std::uint32_t flag), (flag),
                  IsShared(function, &CuptiLibrary::ActivityFlushAll), {
                    const TheirFlush flush;
                    return function(flag);
                  })

// Whether buffers are a thread's own must not change while anything is recorded ("undefined
// behavior", cupti_activity.h): the client gets its records either way.
TRACEINJECT_CUPTI(cuptiActivitySetAttribute,
                  (CUpti_ActivityAttribute attribute, std::size_t* size, void* value),
                  (attribute, size, value),
                  attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER && IsShared(),
                  { return CUPTI_SUCCESS; })

TRACEINJECT_CUPTI(cuptiActivityRegisterTimestampCallback, (CUpti_TimestampCallbackFunc callback),
                  (callback), IsShared(), { return ChangeClock(function, callback); })

// That it has the place of the one subscriber is no sign of a client that we do not see.
TRACEINJECT_CUPTI(cuptiSubscribe,
                  (CUpti_SubscriberHandle * subscriber, CUpti_CallbackFunc callback, void* data),
                  (subscriber, callback, data), IsShared(function, &CuptiLibrary::Subscribe), {
                    const FlushTurn turn(kLongestTurnNs);
                    const CUptiResult result = function(subscriber, callback, data);
                    if (result == CUPTI_SUCCESS) g_shared_session.SetSubscribed(true);
                    return result;
                  })

TRACEINJECT_CUPTI(cuptiUnsubscribe, (CUpti_SubscriberHandle subscriber), (subscriber),
                  IsShared(function, &CuptiLibrary::Unsubscribe), {
                    const CUptiResult result = function(subscriber);
                    if (result == CUPTI_SUCCESS) g_shared_session.SetSubscribed(false);
                    return result;
                  })

TRACEINJECT_CUPTI(cuptiFinalize, (), (), IsShared(), { return Finalize(function); })
