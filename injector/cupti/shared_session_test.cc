// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/shared_session.h"

#include <gtest/gtest.h>

#include <set>

namespace traceinject {
namespace {

constexpr auto kSerial = CUPTI_ACTIVITY_KIND_KERNEL;
constexpr auto kConcurrent = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
constexpr auto kOurs = SharedSession::kOurs;
constexpr auto kTheirs = SharedSession::kTheirs;
using Kinds = std::set<CUpti_ActivityKind>;

// What CUPTI has on.
Kinds g_on;

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
CUptiResult CUPTIAPI Disable(CUpti_ActivityKind kind) {
  g_on.erase(kind);
  return CUPTI_SUCCESS;
}

class SharedSessionTest : public ::testing::Test {
 protected:
  SharedSessionTest() {
    g_on.clear();
    library_.ActivityEnable = Enable;
    library_.ActivityDisable = Disable;
    session_.Open(&library_);
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

TEST_F(SharedSessionTest, OursGoOnWhereKernelsOneAtATimeAreRefused) {
  library_.ActivityEnable = RefuseSerial;
  Set(kOurs, kConcurrent, true);
  EXPECT_EQ(Set(kTheirs, kSerial, true), CUPTI_ERROR_NOT_COMPATIBLE);
  EXPECT_EQ(g_on, Kinds{kConcurrent});
}

}  // namespace
}  // namespace traceinject
