// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/name_filter.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

bool Matches(const std::string& pattern, const std::string& name) {
  const auto filter = NameFilter::Parse(pattern);
  return filter.ok() && filter.value().Matches(name);
}

TEST(NameFilterTest, MatchesAnywhere) {
  EXPECT_TRUE(Matches("gemm", "sm90_xmma_gemm_bf16"));
  EXPECT_FALSE(Matches("gemm", "softmax"));
  EXPECT_TRUE(Matches("^(add|mul)$", "mul"));
  EXPECT_FALSE(Matches("^(add|mul)$", "mul2"));
  EXPECT_TRUE(Matches("", "anything"));
}

TEST(NameFilterTest, WhatIsWrongIsSaid) {
  const auto filter = NameFilter::Parse("gemm(");
  ASSERT_FALSE(filter.ok());
  EXPECT_NE(filter.error().find("'gemm(' is not a valid regular expression"), std::string::npos);
}

TEST(NameFilterTest, NamesOfAnyLengthDoNoHarm) {
  const std::string name(5'000'000, 'a');
  EXPECT_TRUE(Matches("(a|b)*", name));
  EXPECT_FALSE(Matches("(a|b)+c", name));
  EXPECT_TRUE(Matches("ac", name + "c"));  // a literal is looked for in all of it
}

}  // namespace
}  // namespace traceinject
