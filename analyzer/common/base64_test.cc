// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/base64.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(Base64, IsThatOfTheBytes) {
  EXPECT_EQ(Base64OfHex(""), "");
  EXPECT_EQ(Base64OfHex("66"), "Zg==");
  EXPECT_EQ(Base64OfHex("666f"), "Zm8=");
  EXPECT_EQ(Base64OfHex("666f6f"), "Zm9v");
  EXPECT_EQ(Base64OfHex("fbff"), "+/8=");
}

}  // namespace
}  // namespace traceinject
