// SPDX-License-Identifier: Apache-2.0
#include "injector/counters/device_claim.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace traceinject {
namespace {

std::string Uuid() { return "GPU-of-test-" + std::to_string(getpid()); }

TEST(DeviceClaimTest, OneHasItAtATime) {
  DeviceClaim first, second;
  std::int64_t holder = 0;
  ASSERT_TRUE(first.Take(Uuid(), &holder));
  EXPECT_TRUE(first.held());
  EXPECT_FALSE(second.Take(Uuid(), &holder));
  EXPECT_EQ(holder, getpid());
  EXPECT_TRUE(second.Take(Uuid() + "-another", &holder));
  first.Release();
  EXPECT_FALSE(first.held());
  EXPECT_TRUE(second.Take(Uuid(), &holder));
}

TEST(DeviceClaimTest, AForkedChildDoesNotHoldIt) {
  DeviceClaim claim;
  std::int64_t holder = 0;
  ASSERT_TRUE(claim.Take(Uuid(), &holder));
  int ready[2], go[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(go), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 'r';
    if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1) _exit(1);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  claim.Release();
  DeviceClaim other;
  EXPECT_TRUE(other.Take(Uuid(), &holder)) << "while the child lives";
  ASSERT_EQ(write(go[1], &byte, 1), 1);
  int ended = 0;
  waitpid(child, &ended, 0);
  EXPECT_EQ(ended, 0);
  for (const int end : {ready[0], ready[1], go[0], go[1]}) close(end);
}

TEST(DeviceClaimTest, ADescriptorThatIsTheProgramsNowIsLeftAlone) {
  DeviceClaim claim;
  std::int64_t holder = 0;
  const int before = dup(0);
  close(before);  // the number that the socket will have
  ASSERT_TRUE(claim.Take(Uuid(), &holder));
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  ASSERT_EQ(dup2(pipes[1], before), before);
  claim.Release();
  EXPECT_EQ(write(before, "x", 1), 1) << "still open";
  for (const int end : {before, pipes[0], pipes[1]}) close(end);
}

}  // namespace
}  // namespace traceinject
