// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/shared_session.h"

#include <gtest/gtest.h>

#include <set>

#include "injector/core/clock.h"

namespace traceinject {
namespace {

constexpr auto kSerial = CUPTI_ACTIVITY_KIND_KERNEL;
constexpr auto kConcurrent = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
constexpr auto kCopies = CUPTI_ACTIVITY_KIND_MEMCPY;
constexpr auto kSets = CUPTI_ACTIVITY_KIND_MEMSET;
constexpr auto kOurs = SharedSession::kOurs;
constexpr auto kTheirs = SharedSession::kTheirs;
using Kinds = std::set<CUpti_ActivityKind>;

// What CUPTI has on.
Kinds g_on;
int g_registered = 0;  // times that our callbacks were
CUptiResult g_finalize_answer = CUPTI_SUCCESS;

CUptiResult CUPTIAPI Enable(CUpti_ActivityKind kind) {
  if ((kind == kSerial && g_on.count(kConcurrent) != 0) ||
      (kind == kConcurrent && g_on.count(kSerial) != 0))
    return CUPTI_ERROR_NOT_COMPATIBLE;
  g_on.insert(kind);
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI RefuseSerial(CUpti_ActivityKind kind) {
  return kind == kSerial ? CUPTI_ERROR_NOT_COMPATIBLE : Enable(kind);
}
// Copies go with memsets, and conversely, as in the real one.
CUptiResult CUPTIAPI Disable(CUpti_ActivityKind kind) {
  g_on.erase(kind);
  if (kind == kCopies) g_on.erase(kSets);
  if (kind == kSets) g_on.erase(kCopies);
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI Register(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc) {
  ++g_registered;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI Finalize() { return g_finalize_answer; }
CUptiResult CUPTIAPI FlushAll(std::uint32_t) { return CUPTI_SUCCESS; }
int g_calls_switched = 0;
CUptiResult CUPTIAPI SwitchCall(CUpti_CallbackId, std::uint8_t) {
  ++g_calls_switched;
  return CUPTI_SUCCESS;
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
    g_on.clear();
    g_registered = 0;
    g_finalize_answer = CUPTI_SUCCESS;
    library_.ActivityFlushAll = FlushAll;
    library_.Finalize = Finalize;
    library_.ActivityEnable = Enable;
    library_.ActivityDisable = Disable;
    library_.ActivityRegisterCallbacks = Register;
    library_.ActivityEnableRuntimeApi = SwitchCall;
    library_.ActivityEnableDriverApi = SwitchCall;
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
  EXPECT_EQ(g_on, Kinds{kConcurrent});
  EXPECT_EQ(Set(kTheirs, kConcurrent, true), CUPTI_SUCCESS);
  EXPECT_EQ(Set(kOurs, kConcurrent, false), CUPTI_SUCCESS);
  EXPECT_EQ(g_on, Kinds{kConcurrent});
  EXPECT_EQ(Set(kTheirs, kConcurrent, false), CUPTI_SUCCESS);
  EXPECT_EQ(g_on, Kinds{});
}

TEST_F(SharedSessionTest, KernelsOneAtATimeAreTakenForConcurrentOnes) {
  Set(kOurs, kConcurrent, true);
  EXPECT_EQ(Set(kTheirs, kSerial, true), CUPTI_SUCCESS);
  EXPECT_EQ(g_on, Kinds{kSerial});
  EXPECT_TRUE(WeTake(kSerial));
  EXPECT_EQ(Set(kTheirs, kConcurrent, true), CUPTI_ERROR_NOT_COMPATIBLE) << "as without us";
  EXPECT_EQ(Set(kTheirs, kSerial, false), CUPTI_SUCCESS);
  EXPECT_EQ(g_on, Kinds{kConcurrent});
}

TEST_F(SharedSessionTest, BothKindsOfKernelsAreRefusedAsWithoutUs) {
  Set(kOurs, kConcurrent, true);
  EXPECT_EQ(Set(kTheirs, kConcurrent, true), CUPTI_SUCCESS);
  EXPECT_EQ(Set(kTheirs, kSerial, true), CUPTI_ERROR_NOT_COMPATIBLE);
  EXPECT_EQ(g_on, Kinds{kConcurrent});
}

TEST_F(SharedSessionTest, AWindowOfOursWhileKernelsAreOneAtATime) {
  EXPECT_EQ(Set(kTheirs, kSerial, true), CUPTI_SUCCESS);
  EXPECT_FALSE(WeTake(kSerial));
  EXPECT_EQ(Set(kOurs, kConcurrent, true), CUPTI_SUCCESS);
  EXPECT_TRUE(WeTake(kSerial));
  EXPECT_EQ(Set(kOurs, kConcurrent, false), CUPTI_SUCCESS);
  EXPECT_EQ(g_on, Kinds{kSerial});
  EXPECT_EQ(Set(kTheirs, kSerial, false), CUPTI_SUCCESS);
  EXPECT_EQ(g_on, Kinds{});
}

TEST_F(SharedSessionTest, CopiesStayOnWhenMemsetsAreTurnedOff) {
  for (const auto side : {kOurs, kTheirs}) {
    Set(kOurs, kCopies, true);
    Set(side, kSets, true);
    Set(side, kSets, false);
    EXPECT_EQ(g_on, Kinds{kCopies});
    Set(kOurs, kCopies, false);
    EXPECT_EQ(g_on, Kinds{});
  }
}

TEST_F(SharedSessionTest, TheirCopiesAndMemsetsStayOnWhenOursAreTurnedOff) {
  Set(kOurs, kSets, true);
  Set(kTheirs, kCopies, true);
  Set(kOurs, kSets, false);
  EXPECT_EQ(g_on, Kinds{kCopies});
  Set(kOurs, kCopies, true);
  Set(kTheirs, kSets, true);
  Set(kOurs, kCopies, false);
  EXPECT_EQ(g_on, (Kinds{kCopies, kSets}));
}

TEST_F(SharedSessionTest, AKindThatWasNotOnTakesNothingAway) {
  Set(kOurs, kSets, true);
  Set(kTheirs, kCopies, false);
  EXPECT_EQ(g_on, Kinds{kSets});
}

TEST_F(SharedSessionTest, OursGoOnWhereKernelsOneAtATimeAreRefused) {
  library_.ActivityEnable = RefuseSerial;
  Set(kOurs, kConcurrent, true);
  EXPECT_EQ(Set(kTheirs, kSerial, true), CUPTI_ERROR_NOT_COMPATIBLE);
  EXPECT_EQ(g_on, Kinds{kConcurrent});
}

TEST_F(SharedSessionTest, ACallThatTheOtherSideHasOnIsLeftAlone) {
  Set(kTheirs, CUPTI_ACTIVITY_KIND_RUNTIME, true);
  g_calls_switched = 0;
  session_.SetCall(kOurs, CudaDomain::kRuntime, 31, true);
  session_.SetCall(kOurs, CudaDomain::kRuntime, 31, false);
  EXPECT_EQ(g_calls_switched, 0);
  session_.SetCall(kTheirs, CudaDomain::kRuntime, 31, false);
  EXPECT_EQ(g_calls_switched, 1) << "nobody wants it any more";
  session_.SetCall(kOurs, CudaDomain::kRuntime, 31, true);
  EXPECT_EQ(g_calls_switched, 2);
}

TEST_F(SharedSessionTest, WhatWasTakenAwayIsTurnedOnAnew) {
  Set(kTheirs, CUPTI_ACTIVITY_KIND_RUNTIME, true);
  session_.SetCall(kTheirs, CudaDomain::kDriver, 307, true);
  session_.Finalized(1);
  g_calls_switched = 0;
  session_.SetCall(kOurs, CudaDomain::kRuntime, 31, true);
  session_.SetCall(kOurs, CudaDomain::kDriver, 307, true);
  EXPECT_EQ(g_calls_switched, 2);
}

TEST_F(SharedSessionTest, OursStayOnWhenAKindOfCallsIsTurnedOff) {
  session_.SetCall(kOurs, CudaDomain::kDriver, 307, true);
  Set(kTheirs, CUPTI_ACTIVITY_KIND_DRIVER, true);
  g_calls_switched = 0;
  Set(kTheirs, CUPTI_ACTIVITY_KIND_DRIVER, false);
  EXPECT_EQ(g_calls_switched, 1);
}

TEST_F(SharedSessionTest, FlushesRestWhileTheOtherClientWaitsForItsBuffers) {
  session_.Register(Request, Take);
  Set(kTheirs, kCopies, true);
  const std::int64_t begun_ns = ReadClockNs(CLOCK_MONOTONIC);
  EXPECT_FALSE(session_.Rests(begun_ns)) << "it has lent none";
  session_.LentByThem();
  EXPECT_TRUE(session_.Rests(begun_ns));
  EXPECT_FALSE(session_.Rests(begun_ns + SharedSession::kLongestRestNs)) << "a long session";
  Set(kTheirs, kCopies, false);
  EXPECT_TRUE(session_.Rests(ReadClockNs(CLOCK_MONOTONIC))) << "its end";
  EXPECT_TRUE(session_.IsUsedByThem());
  std::uint8_t memory[8];
  session_.HandOver({nullptr, 0, memory, 8, 8});
  EXPECT_EQ(g_handed_over, memory);
  EXPECT_FALSE(session_.Rests(ReadClockNs(CLOCK_MONOTONIC)));
  EXPECT_FALSE(session_.IsUsedByThem());
}

TEST_F(SharedSessionTest, WhatWasOnIsOffOnceWeLeft) {
  Set(kOurs, kConcurrent, true);
  const int before = session_.taken_away_count();
  EXPECT_EQ(session_.Leave(), CUPTI_SUCCESS);
  EXPECT_FALSE(session_.there());
  EXPECT_FALSE(WeTake(kConcurrent));
  EXPECT_EQ(session_.taken_away_count(), before + 1) << "correlation ids begin anew";
}

TEST_F(SharedSessionTest, CuptiThatCannotBeLeftIsKept) {
  Set(kOurs, kConcurrent, true);
  g_finalize_answer = CUPTI_ERROR_UNKNOWN;
  EXPECT_NE(session_.Leave(), CUPTI_SUCCESS);
  EXPECT_TRUE(session_.there());
  EXPECT_TRUE(WeTake(kConcurrent));
}

TEST_F(SharedSessionTest, WeAreBackForAnotherClient) {
  session_.Leave();
  session_.Return();
  EXPECT_TRUE(session_.there());
  session_.Return();
  EXPECT_EQ(g_registered, 2) << "at the beginning, and once again";
}

TEST_F(SharedSessionTest, AClientThatIsNotSeenIsLeftAlone) {
  session_.StandAside();
  session_.Return();
  EXPECT_FALSE(session_.there());
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
