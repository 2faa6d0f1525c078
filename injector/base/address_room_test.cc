// SPDX-License-Identifier: Apache-2.0
#include "injector/base/address_room.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

namespace traceinject {
namespace {

class AddressRoomTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(getrlimit(RLIMIT_AS, &before_), 0); }
  void TearDown() override { setrlimit(RLIMIT_AS, &before_); }

  void Limit(rlim_t bytes) {
    const rlimit limit{bytes, before_.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    rlimit now{};
    ASSERT_EQ(getrlimit(RLIMIT_AS, &now), 0);
    if (now.rlim_cur != bytes) GTEST_SKIP() << "an emulator keeps no such limit";
  }

  rlimit before_{};
};

TEST_F(AddressRoomTest, IsNoneWithoutALimit) {
  if (before_.rlim_cur != RLIM_INFINITY) GTEST_SKIP() << "there is a limit";
  EXPECT_EQ(AddressRoomBytes(), kNoAddressLimit);
}

TEST_F(AddressRoomTest, IsWhatIsNotMapped) {
  constexpr std::int64_t kMapped = 1 << 30, kSlack = 1 << 20;
  Limit(rlim_t{1} << 60);  // sanitizers map up to 128 TB
  if (IsSkipped()) return;
  const std::int64_t before = AddressRoomBytes();
  void* mapped = mmap(nullptr, kMapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_NEAR(static_cast<double>(before - AddressRoomBytes()), kMapped, kSlack);
  munmap(mapped, kMapped);
}

TEST_F(AddressRoomTest, IsLessThanNothingBelowWhatIsMapped) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer's runtime maps memory all the time, and ends where it cannot";
#endif
  Limit(1 << 20);
  if (IsSkipped()) return;
  EXPECT_LT(AddressRoomBytes(), 0);
}

}  // namespace
}  // namespace traceinject
