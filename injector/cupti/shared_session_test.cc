// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/shared_session.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "injector/base/clock.h"

namespace traceinject {
namespace {

constexpr auto kSerial = CUPTI_ACTIVITY_KIND_KERNEL;
constexpr auto kConcurrent = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
constexpr auto kCopies = CUPTI_ACTIVITY_KIND_MEMCPY;
constexpr auto kSets = CUPTI_ACTIVITY_KIND_MEMSET;
constexpr auto kRuntimeCalls = CUPTI_ACTIVITY_KIND_RUNTIME;
constexpr auto kDriverCalls = CUPTI_ACTIVITY_KIND_DRIVER;
constexpr auto kOurs = SharedSession::kOurs;
constexpr auto kTheirs = SharedSession::kTheirs;
using Kinds = std::set<CUpti_ActivityKind>;

// What CUPTI has on.
Kinds g_kinds_on;
int g_registered = 0;  // times that our callbacks were
CUptiResult g_finalize_answer = CUPTI_SUCCESS;

int g_switched = 0;  // times that any was turned on or off
using Calls = std::set<CUpti_CallbackId>;
std::map<CUpti_ActivityKind, Calls> g_calls_on;
constexpr CUpti_CallbackId kLastCall = 800;

CUptiResult CUPTIAPI EnableKind(CUpti_ActivityKind kind) {
  ++g_switched;
  if ((kind == kSerial && g_kinds_on.count(kConcurrent) != 0) ||
      (kind == kConcurrent && g_kinds_on.count(kSerial) != 0))
    return CUPTI_ERROR_NOT_COMPATIBLE;
  g_kinds_on.insert(kind);
  for (CUpti_CallbackId cbid = 1; WantedRecords::IsCalls(kind) && cbid <= kLastCall; ++cbid)
    g_calls_on[kind].insert(cbid);
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI RefuseSerial(CUpti_ActivityKind kind) {
  return kind == kSerial ? CUPTI_ERROR_NOT_COMPATIBLE : EnableKind(kind);
}
// Copies go with memsets, and conversely, as in the real one.
CUptiResult CUPTIAPI DisableKind(CUpti_ActivityKind kind) {
  ++g_switched;
  g_kinds_on.erase(kind);
  if (kind == kCopies) g_kinds_on.erase(kSets);
  if (kind == kSets) g_kinds_on.erase(kCopies);
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI CountRegistered(CUpti_BuffersCallbackRequestFunc,
                                     CUpti_BuffersCallbackCompleteFunc) {
  ++g_registered;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI Finalize() { return g_finalize_answer; }
CUptiResult CUPTIAPI FlushNothing(std::uint32_t) { return CUPTI_SUCCESS; }
template <CUpti_ActivityKind kind>
CUptiResult CUPTIAPI SwitchCall(CUpti_CallbackId cbid, std::uint8_t on) {
  if (on != 0) g_calls_on[kind].insert(cbid);
  if (on == 0) g_calls_on[kind].erase(cbid);
  return CUPTI_SUCCESS;
}
// Of a version that does not know any after 31.
CUptiResult CUPTIAPI SwitchOldCall(CUpti_CallbackId cbid, std::uint8_t) {
  return cbid <= 31 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
bool IsOn(CUpti_ActivityKind kind, CUpti_CallbackId cbid) {
  return g_calls_on[kind].count(cbid) != 0;
}
std::uint8_t* g_handed_over = nullptr;
void CUPTIAPI Take(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
  g_handed_over = buffer;
}
void CUPTIAPI Request(std::uint8_t**, std::size_t*, std::size_t*) {}
void CUPTIAPI Complete(CUcontext, std::uint32_t, std::uint8_t*, std::size_t, std::size_t) {}

class SharedSessionTest : public ::testing::Test {
 protected:
  SharedSessionTest() {
    g_kinds_on.clear();
    g_calls_on.clear();
    g_registered = 0;
    g_finalize_answer = CUPTI_SUCCESS;
    library_.ActivityFlushAll = FlushNothing;
    library_.Finalize = Finalize;
    library_.ActivityEnable = EnableKind;
    library_.ActivityDisable = DisableKind;
    library_.ActivityRegisterCallbacks = CountRegistered;
    library_.ActivityEnableRuntimeApi = SwitchCall<kRuntimeCalls>;
    library_.ActivityEnableDriverApi = SwitchCall<kDriverCalls>;
    session_.Attach(&library_, nullptr, nullptr);
  }
  CUptiResult Set(SharedSession::Side side, CUpti_ActivityKind kind, bool on) {
    return session_.SetKind(side, kind, on);
  }
  bool WeTake(CUpti_ActivityKind kind) const {
    CUpti_Activity record{};
    record.kind = kind;
    return session_.wanted(kOurs).Has(&record);
  }

  CuptiLibrary library_;
  SharedSession session_;
};

TEST_F(SharedSessionTest, AKindIsOnWhileEitherWantsIt) {
  EXPECT_EQ(Set(kOurs, kConcurrent, true), CUPTI_SUCCESS);
  EXPECT_EQ(Set(kTheirs, kConcurrent, true), CUPTI_SUCCESS);
  EXPECT_EQ(Set(kTheirs, kConcurrent, false), CUPTI_SUCCESS);
  EXPECT_EQ(g_kinds_on, Kinds{kConcurrent});
  EXPECT_EQ(Set(kTheirs, kConcurrent, true), CUPTI_SUCCESS);
  EXPECT_EQ(Set(kOurs, kConcurrent, false), CUPTI_SUCCESS);
  EXPECT_EQ(g_kinds_on, Kinds{kConcurrent});
  EXPECT_EQ(Set(kTheirs, kConcurrent, false), CUPTI_SUCCESS);
  EXPECT_EQ(g_kinds_on, Kinds{});
}

TEST_F(SharedSessionTest, KernelsOneAtATimeAreTakenForConcurrentOnes) {
  Set(kOurs, kConcurrent, true);
  EXPECT_EQ(Set(kTheirs, kSerial, true), CUPTI_SUCCESS);
  EXPECT_EQ(g_kinds_on, Kinds{kSerial});
  EXPECT_TRUE(WeTake(kSerial));
  EXPECT_EQ(Set(kTheirs, kConcurrent, true), CUPTI_ERROR_NOT_COMPATIBLE) << "as without us";
  EXPECT_EQ(Set(kTheirs, kSerial, false), CUPTI_SUCCESS);
  EXPECT_EQ(g_kinds_on, Kinds{kConcurrent});
}

TEST_F(SharedSessionTest, BothKindsOfKernelsAreRefusedAsWithoutUs) {
  Set(kOurs, kConcurrent, true);
  EXPECT_EQ(Set(kTheirs, kConcurrent, true), CUPTI_SUCCESS);
  EXPECT_EQ(Set(kTheirs, kSerial, true), CUPTI_ERROR_NOT_COMPATIBLE);
  EXPECT_EQ(g_kinds_on, Kinds{kConcurrent});
}

TEST_F(SharedSessionTest, AWindowOfOursWhileKernelsAreOneAtATime) {
  EXPECT_EQ(Set(kTheirs, kSerial, true), CUPTI_SUCCESS);
  EXPECT_FALSE(WeTake(kSerial));
  EXPECT_EQ(Set(kOurs, kConcurrent, true), CUPTI_SUCCESS);
  EXPECT_TRUE(WeTake(kSerial));
  EXPECT_EQ(Set(kOurs, kConcurrent, false), CUPTI_SUCCESS);
  EXPECT_EQ(g_kinds_on, Kinds{kSerial});
  EXPECT_EQ(Set(kTheirs, kSerial, false), CUPTI_SUCCESS);
  EXPECT_EQ(g_kinds_on, Kinds{});
}

TEST_F(SharedSessionTest, CopiesStayOnWhenMemsetsAreTurnedOff) {
  for (const auto side : {kOurs, kTheirs}) {
    Set(kOurs, kCopies, true);
    Set(side, kSets, true);
    Set(side, kSets, false);
    EXPECT_EQ(g_kinds_on, Kinds{kCopies});
    Set(kOurs, kCopies, false);
    EXPECT_EQ(g_kinds_on, Kinds{});
  }
}

TEST_F(SharedSessionTest, TheirCopiesAndMemsetsStayOnWhenOursAreTurnedOff) {
  Set(kOurs, kSets, true);
  Set(kTheirs, kCopies, true);
  Set(kOurs, kSets, false);
  EXPECT_EQ(g_kinds_on, Kinds{kCopies});
  Set(kOurs, kCopies, true);
  Set(kTheirs, kSets, true);
  Set(kOurs, kCopies, false);
  EXPECT_EQ(g_kinds_on, (Kinds{kCopies, kSets}));
}

// Whatever is turned on again costs every launch from then on.
TEST_F(SharedSessionTest, NothingIsTurnedOnAgainWhileOursGoOffTogether) {
  for (const auto kind : {kConcurrent, kCopies, kSets}) Set(kOurs, kind, true);
  g_switched = 0;
  EXPECT_EQ(session_.DisableOurs(), CUPTI_SUCCESS);
  EXPECT_EQ(g_switched, 3);
  EXPECT_EQ(g_kinds_on, Kinds{});
  EXPECT_FALSE(session_.wanted(kOurs).HasAnyKind());
}

TEST_F(SharedSessionTest, WhatTheyWantStaysOnWhenAllOfOursGoOff) {
  for (const auto kind : {kConcurrent, kCopies, kSets}) Set(kOurs, kind, true);
  for (const auto kind : {kConcurrent, kCopies}) Set(kTheirs, kind, true);
  EXPECT_EQ(session_.DisableOurs(), CUPTI_SUCCESS);
  EXPECT_EQ(g_kinds_on, (Kinds{kConcurrent, kCopies}));
}

TEST_F(SharedSessionTest, BuffersOfTheirsThatAreOutWhenOursGoOffComeBackLate) {
  static std::uint8_t buffers[3];
  Set(kOurs, kConcurrent, true);
  Set(kTheirs, kConcurrent, true);
  session_.LentByThem(buffers);
  session_.LentByThem(buffers + 1);
  const auto is_late = [this](int number) {
    return session_.HasEndedSince(session_.TakeLend(buffers + number));
  };
  EXPECT_FALSE(is_late(0)) << "ours are on";
  session_.DisableOurs();
  session_.LentByThem(buffers + 2);
  EXPECT_FALSE(is_late(2)) << "it was lent since, and comes back first";
  EXPECT_TRUE(is_late(1));
  EXPECT_TRUE(session_.wanted_until_end().HasKind(kConcurrent));
  EXPECT_FALSE(session_.wanted(kOurs).HasAnyKind());
}

TEST_F(SharedSessionTest, AKindThatWasNotOnTakesNothingAway) {
  Set(kOurs, kSets, true);
  Set(kTheirs, kCopies, false);
  EXPECT_EQ(g_kinds_on, Kinds{kSets});
}

TEST_F(SharedSessionTest, OursGoOnWhereKernelsOneAtATimeAreRefused) {
  library_.ActivityEnable = RefuseSerial;
  Set(kOurs, kConcurrent, true);
  EXPECT_EQ(Set(kTheirs, kSerial, true), CUPTI_ERROR_NOT_COMPATIBLE);
  EXPECT_EQ(g_kinds_on, Kinds{kConcurrent});
}

TEST_F(SharedSessionTest, ACallIsOnWhileEitherWantsIt) {
  session_.HookCalls(true, false);
  session_.SetCall(kOurs, CudaDomain::kRuntime, 31, true);
  Set(kTheirs, kRuntimeCalls, true);
  EXPECT_TRUE(IsOn(kRuntimeCalls, 41));
  EXPECT_FALSE(IsOn(kDriverCalls, 307));
  session_.SetCall(kTheirs, CudaDomain::kRuntime, 31, false);
  session_.SetCall(kTheirs, CudaDomain::kRuntime, 41, false);
  EXPECT_TRUE(IsOn(kRuntimeCalls, 31));
  EXPECT_FALSE(IsOn(kRuntimeCalls, 41)) << "nobody wants it any more";
  Set(kTheirs, kRuntimeCalls, false);
  EXPECT_EQ(g_calls_on[kRuntimeCalls], (Calls{kRuntimeHookCall, 31}));
  EXPECT_EQ(g_kinds_on, Kinds{}) << "once it was on, single calls would have no effect";
}

TEST_F(SharedSessionTest, ManyCallsGoOnAndOffAtOnce) {
  session_.HookCalls(true, false);
  const CallSwitches::Calls calls = CallSwitches::Calls().set(31).set(41);
  EXPECT_EQ(session_.SetCalls(kOurs, CudaDomain::kRuntime, calls, true), CUPTI_SUCCESS);
  EXPECT_EQ(g_calls_on[kRuntimeCalls], (Calls{kRuntimeHookCall, 31, 41}));
  session_.SetCall(kTheirs, CudaDomain::kRuntime, 41, true);
  EXPECT_EQ(session_.SetCalls(kOurs, CudaDomain::kRuntime, calls, false), CUPTI_SUCCESS);
  EXPECT_EQ(g_calls_on[kRuntimeCalls], (Calls{kRuntimeHookCall, 41}));
}

TEST_F(SharedSessionTest, OfManyCallsAnErrorIsThatNoneIsOn) {
  session_.HookCalls(true, false);
  const CallSwitches::Calls calls = CallSwitches::Calls().set(31).set(41);
  library_.ActivityEnableRuntimeApi = SwitchOldCall;
  EXPECT_EQ(session_.SetCalls(kOurs, CudaDomain::kRuntime, calls, true), CUPTI_SUCCESS);
  EXPECT_NE(session_.SetCalls(kOurs, CudaDomain::kRuntime, CallSwitches::Calls().set(42), true),
            CUPTI_SUCCESS);
}

TEST_F(SharedSessionTest, WhoWantsAllOfTheDriversGetsNoneInsideARuntimes) {
  session_.HookCalls(true, false);
  Set(kTheirs, kDriverCalls, true);
  EXPECT_TRUE(IsOn(kDriverCalls, 307));
  EXPECT_TRUE(IsOn(kRuntimeCalls, 211)) << "it hides what is inside it";
  CUpti_ActivityAPI launch{};
  launch.kind = kRuntimeCalls;
  launch.cbid = 211;
  EXPECT_FALSE(session_.delivered().Has(reinterpret_cast<CUpti_Activity*>(&launch)));
  Set(kTheirs, kDriverCalls, false);
  EXPECT_FALSE(IsOn(kRuntimeCalls, 211));
}

TEST_F(SharedSessionTest, WhatWasTakenAwayIsTurnedOnAnew) {
  session_.HookCalls(true, false);
  Set(kTheirs, kRuntimeCalls, true);
  session_.SetCall(kOurs, CudaDomain::kDriver, 307, true);
  session_.Finalized(1);
  g_calls_on.clear();
  EXPECT_FALSE(session_.TellsInnerCalls());
  session_.SetCall(kOurs, CudaDomain::kDriver, 307, true);
  EXPECT_EQ(g_kinds_on, Kinds{kDriverCalls}) << "without its kind a call has no effect now";
  EXPECT_EQ(g_calls_on[kDriverCalls], Calls{307});
  session_.SetCall(kOurs, CudaDomain::kDriver, 307, false);
  EXPECT_EQ(g_calls_on[kDriverCalls], Calls{});
}

TEST_F(SharedSessionTest, CallsThatMayBlockStayOnAsLongAsAnyAreTold) {
  constexpr CUpti_CallbackId kStreamSynchronize = 126, kRuntimeSynchronize = 131;
  session_.HookCalls(true, true);
  EXPECT_TRUE(IsOn(kDriverCalls, kStreamSynchronize));
  EXPECT_TRUE(IsOn(kRuntimeCalls, kRuntimeSynchronize));
  session_.Finalized(1);
  g_kinds_on.clear();
  g_calls_on.clear();
  session_.SetCall(kOurs, CudaDomain::kDriver, 307, true);
  EXPECT_TRUE(IsOn(kDriverCalls, 307));
  session_.SetCall(kOurs, CudaDomain::kDriver, 307, false);
  EXPECT_FALSE(IsOn(kDriverCalls, 307));
  EXPECT_TRUE(IsOn(kDriverCalls, kStreamSynchronize)) << "a thread may be in it";
  EXPECT_EQ(g_kinds_on, Kinds{kDriverCalls});
  EXPECT_EQ(g_calls_on[kRuntimeCalls], Calls{}) << "none of it is told";
}

TEST_F(SharedSessionTest, CallsThatCannotBeSelectedAreOnAsKinds) {
  library_.ActivityEnableDriverApi = nullptr;
  session_.HookCalls(true, false);
  Set(kOurs, kDriverCalls, true);
  Set(kTheirs, kDriverCalls, true);
  Set(kTheirs, kDriverCalls, false);
  EXPECT_EQ(g_kinds_on, Kinds{kDriverCalls});
  EXPECT_EQ(session_.SetCall(kTheirs, CudaDomain::kDriver, 307, true), CUPTI_ERROR_NOT_SUPPORTED);
}

TEST_F(SharedSessionTest, InASessionWindowsOfOursTurnNothingOnOrOff) {
  session_.SetHeldKinds(SharedSession::Kinds().set(kCopies).set(kSets));
  session_.Register(Request, Complete);
  Set(kOurs, kSets, true);
  Set(kTheirs, kConcurrent, true);
  g_switched = 0;
  for (const bool on : {false, true, false}) {
    for (const auto kind : {kConcurrent, kCopies, kSets}) Set(kOurs, kind, on);
  }
  EXPECT_EQ(g_switched, 0);
  EXPECT_EQ(g_kinds_on, (Kinds{kConcurrent, kCopies, kSets}));
  CUpti_Activity copy{};
  copy.kind = kCopies;
  EXPECT_FALSE(session_.delivered().Has(&copy)) << "it did not ask for them";
  EXPECT_FALSE(WeTake(kCopies)) << "nor do we, outside of a window";
  Set(kTheirs, kConcurrent, false);
  EXPECT_EQ(g_kinds_on, Kinds{});
}

TEST_F(SharedSessionTest, WhatComesBackAfterTheFlushThatEndsASessionIsNotKept) {
  session_.Register(Request, Take);
  static std::uint8_t buffers[2];
  for (std::uint8_t& buffer : buffers) {
    Set(kTheirs, kCopies, true);
    session_.LentByThem(&buffer);
    Set(kTheirs, kCopies, false);
    session_.BeginTheirFlush();
    session_.EndTheirFlush();
    session_.HandOver({nullptr, 0, &buffer, 1, 1});
    EXPECT_EQ(g_handed_over, &buffer);
    EXPECT_FALSE(session_.IsUsedByThem());
  }
}

TEST_F(SharedSessionTest, WhatComesBackAfterAFlushInASessionIsKept) {
  session_.Register(Request, Take);
  Set(kTheirs, kCopies, true);
  session_.BeginTheirFlush();
  session_.EndTheirFlush();
  static std::uint8_t buffer = 0;
  session_.LentByThem(&buffer);
  session_.Flush(0);
  session_.HandOver({nullptr, 0, &buffer, 1, 1});
  EXPECT_NE(g_handed_over, &buffer);
  session_.BeginTheirFlush();
  EXPECT_EQ(g_handed_over, &buffer);
}

TEST_F(SharedSessionTest, FlushesRestWhileTheOtherClientWaitsForItsBuffers) {
  session_.Register(Request, Take);
  Set(kTheirs, kCopies, true);
  const std::int64_t begun_ns = ReadClockNs(CLOCK_MONOTONIC);
  EXPECT_FALSE(session_.Rests(begun_ns)) << "it has lent none";
  static std::uint8_t buffer = 0;
  session_.LentByThem(&buffer);
  EXPECT_TRUE(session_.Rests(begun_ns));
  EXPECT_FALSE(session_.Rests(begun_ns + SharedSession::kLongestRestNs)) << "a long session";
  Set(kTheirs, kCopies, false);
  EXPECT_TRUE(session_.Rests(ReadClockNs(CLOCK_MONOTONIC))) << "its end";
  EXPECT_TRUE(session_.IsUsedByThem());
  session_.Flush(0);
  session_.HandOver({nullptr, 0, &buffer, 1, 1});
  EXPECT_TRUE(session_.Rests(ReadClockNs(CLOCK_MONOTONIC))) << "it was not asked for";
  session_.BeginTheirFlush();
  session_.EndTheirFlush();
  EXPECT_EQ(g_handed_over, &buffer);
  EXPECT_FALSE(session_.Rests(ReadClockNs(CLOCK_MONOTONIC)));
  EXPECT_FALSE(session_.IsUsedByThem());
}

TEST_F(SharedSessionTest, WhatWasOnIsOffOnceWeLeft) {
  Set(kOurs, kConcurrent, true);
  const int before = session_.taken_away_count();
  EXPECT_EQ(session_.Leave(), CUPTI_SUCCESS);
  EXPECT_FALSE(session_.attached());
  EXPECT_FALSE(WeTake(kConcurrent));
  EXPECT_EQ(session_.taken_away_count(), before + 1) << "correlation ids begin anew";
}

TEST_F(SharedSessionTest, CuptiThatCannotBeLeftIsKept) {
  Set(kOurs, kConcurrent, true);
  g_finalize_answer = CUPTI_ERROR_UNKNOWN;
  EXPECT_NE(session_.Leave(), CUPTI_SUCCESS);
  EXPECT_TRUE(session_.attached());
  EXPECT_TRUE(WeTake(kConcurrent));
}

TEST_F(SharedSessionTest, WeAreBackForAnotherClient) {
  session_.Leave();
  session_.Return();
  EXPECT_TRUE(session_.attached());
  session_.Return();
  EXPECT_EQ(g_registered, 2) << "at the beginning, and once again";
}

TEST_F(SharedSessionTest, WeAreThereForTheNextClientOnceOneTookCuptiAway) {
  session_.Return();
  EXPECT_EQ(g_registered, 1);
  session_.Finalized(1);
  session_.Return();
  EXPECT_EQ(g_registered, 2) << "it would get no records";
  session_.Return();
  EXPECT_EQ(g_registered, 2);
}

TEST_F(SharedSessionTest, AClientThatIsNotSeenIsLeftAlone) {
  session_.StandAside();
  session_.Return();
  EXPECT_FALSE(session_.attached());
  EXPECT_EQ(g_registered, 1);
}

TEST_F(SharedSessionTest, AnotherClientUsesItFromItsFirstCallToItsLastKind) {
  EXPECT_FALSE(session_.IsUsedByThem());
  session_.Register(Request, Complete);
  EXPECT_TRUE(session_.IsUsedByThem()) << "its clock may be set by now";
  Set(kTheirs, kConcurrent, true);
  Set(kTheirs, CUPTI_ACTIVITY_KIND_MEMCPY, true);
  Set(kTheirs, kConcurrent, false);
  EXPECT_TRUE(session_.IsUsedByThem());
  Set(kTheirs, CUPTI_ACTIVITY_KIND_MEMCPY, false);
  EXPECT_FALSE(session_.IsUsedByThem());
  session_.SetSubscribed(true);
  EXPECT_TRUE(session_.IsUsedByThem());
}

}  // namespace
}  // namespace traceinject
