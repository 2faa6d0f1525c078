// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/call_switches.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace traceinject {
namespace {

constexpr std::uint32_t kLastKnown = 806;
using Cbids = std::set<std::uint32_t>;

// What the driver's domain of CUPTI has on.
Cbids g_on;
bool g_kind_on = false;
int g_asked = 0;
CUptiResult g_answer = CUPTI_SUCCESS;

CUptiResult CUPTIAPI Enable(CUpti_ActivityKind) {
  if (g_answer != CUPTI_SUCCESS) return g_answer;
  g_kind_on = true;
  for (std::uint32_t cbid = 1; cbid <= kLastKnown; ++cbid) g_on.insert(cbid);
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI Disable(CUpti_ActivityKind) {
  g_kind_on = false;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI Switch(CUpti_CallbackId cbid, std::uint8_t on) {
  ++g_asked;
  if (g_answer != CUPTI_SUCCESS) return g_answer;
  if (cbid > kLastKnown) return CUPTI_ERROR_INVALID_PARAMETER;
  if (on != 0) g_on.insert(cbid);
  if (on == 0) g_on.erase(cbid);
  return CUPTI_SUCCESS;
}

class CallSwitchesTest : public ::testing::Test {
 protected:
  CallSwitchesTest() {
    g_on.clear();
    g_kind_on = false;
    g_answer = CUPTI_SUCCESS;
    cupti_.ActivityEnable = Enable;
    cupti_.ActivityDisable = Disable;
    cupti_.ActivityEnableDriverApi = cupti_.ActivityEnableRuntimeApi = Switch;
  }
  CUptiResult Set(const Cbids& cbids) {
    CallSwitches::Calls calls;
    for (const std::uint32_t cbid : cbids) calls.set(cbid);
    g_asked = 0;
    return switches_.Set(cupti_, CudaDomain::kDriver, calls);
  }

  CuptiLibrary cupti_;
  CallSwitches switches_;
};

TEST_F(CallSwitchesTest, WhereItIsHookedNoKindIsTurnedOn) {
  switches_.Hook(cupti_, CudaDomain::kDriver);
  EXPECT_TRUE(switches_.IsHooked(CudaDomain::kDriver));
  EXPECT_FALSE(switches_.IsHooked(CudaDomain::kRuntime));
  EXPECT_EQ(g_on, Cbids{kDriverHookCall});
  EXPECT_EQ(Set({17, 307}), CUPTI_SUCCESS);
  EXPECT_EQ(g_on, (Cbids{kDriverHookCall, 17, 307}));
  EXPECT_EQ(Set({307}), CUPTI_SUCCESS);
  EXPECT_EQ(g_asked, 1);
  EXPECT_EQ(Set({}), CUPTI_SUCCESS);
  EXPECT_EQ(g_on, Cbids{kDriverHookCall});
  EXPECT_FALSE(g_kind_on);
}

TEST_F(CallSwitchesTest, WhereItIsNotTheKindIsOnFromTheFirstThatIsWanted) {
  EXPECT_EQ(Set({}), CUPTI_SUCCESS);
  EXPECT_FALSE(g_kind_on);
  EXPECT_FALSE(switches_.Tells(CudaDomain::kDriver));
  EXPECT_EQ(Set({307}), CUPTI_SUCCESS);
  EXPECT_TRUE(g_kind_on);
  EXPECT_TRUE(switches_.Tells(CudaDomain::kDriver));
  EXPECT_EQ(g_on, Cbids{307});
  EXPECT_EQ(Set({}), CUPTI_SUCCESS);
  EXPECT_TRUE(g_kind_on) << "a thread may be in a call of it";
  EXPECT_EQ(g_on, Cbids{}) << "those that stay on hide the calls inside them";
  EXPECT_FALSE(switches_.AnyOn());
  EXPECT_EQ(Set({307}), CUPTI_SUCCESS);
  EXPECT_EQ(g_asked, 1);
  switches_.TurnKindsOff(cupti_);
  EXPECT_FALSE(g_kind_on);
}

TEST_F(CallSwitchesTest, WhenItWasTakenAwayNothingIsHooked) {
  switches_.Hook(cupti_, CudaDomain::kDriver);
  Set({307});
  g_on.clear();
  switches_.Forget();
  EXPECT_FALSE(switches_.AnyOn());
  Set({307});
  EXPECT_TRUE(g_kind_on);
  EXPECT_EQ(g_on, Cbids{307});
}

TEST_F(CallSwitchesTest, CallsThatAreNotKnownAreNoError) {
  switches_.Hook(cupti_, CudaDomain::kDriver);
  EXPECT_EQ(Set({307, 900}), CUPTI_SUCCESS);
  EXPECT_EQ(Set({307, 900}), CUPTI_SUCCESS);
  EXPECT_EQ(g_asked, 0) << "nor are they tried again";
  EXPECT_EQ(Set({307, 901}), CUPTI_ERROR_INVALID_PARAMETER) << "the only ones";
}

TEST_F(CallSwitchesTest, WhatIsRefusedIsTriedAgain) {
  g_answer = CUPTI_ERROR_UNKNOWN;
  switches_.Hook(cupti_, CudaDomain::kDriver);
  EXPECT_FALSE(switches_.IsHooked(CudaDomain::kDriver));
  EXPECT_EQ(Set({307}), CUPTI_ERROR_UNKNOWN);
  g_answer = CUPTI_SUCCESS;
  EXPECT_EQ(Set({307}), CUPTI_SUCCESS);
  EXPECT_EQ(g_on, Cbids{307});
}

}  // namespace
}  // namespace traceinject
