// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/why_failed.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <system_error>

namespace traceinject {
namespace {

TEST(WhyFailedTest, LimitsAreNamedAndTheRestIsAsItWasThrown) {
  EXPECT_EQ(WhyFailed(std::bad_alloc()),
            "not enough memory; a limit may be set (ulimit -v, or that of the container or job)");
  EXPECT_EQ(WhyFailed(std::system_error(EAGAIN, std::generic_category())),
            "no more threads can be started; raise the limit of processes (ulimit -u, or pids.max "
            "of the container)");
  EXPECT_EQ(WhyFailed(std::runtime_error("a mistake")), "a mistake");
  EXPECT_EQ(WhyFailed(std::system_error(EIO, std::generic_category())), "Input/output error");
}

}  // namespace
}  // namespace traceinject
