// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/levers.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(LeversTest, EachCauseHasLeversWithASource) {
  for (const char* label : {"dataloader", "h2d_copy", "sync_bound", "allocator", "checkpoint",
                            "gc_pause", "launch_bound", "comm_exposed"}) {
    const std::vector<LeverRow> levers = LeversOf(label);
    EXPECT_GE(levers.size(), 2U) << label;
    for (const LeverRow& lever : levers) {
      EXPECT_FALSE(lever.setting.empty()) << label;
      EXPECT_FALSE(lever.change.empty()) << label;
      EXPECT_NE(lever.source.find('.'), std::string_view::npos) << label;
    }
  }
}

TEST(LeversTest, HealthyAndUnknownHaveNone) {
  EXPECT_TRUE(LeversOf("compute_bound").empty());
  EXPECT_TRUE(LeversOf("inconclusive").empty());
}

}  // namespace
}  // namespace traceinject
