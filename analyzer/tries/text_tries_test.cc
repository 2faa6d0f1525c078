// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tries/text_tries.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

proto::Tries SomeTries() {
  proto::Tries tries;
  for (const char* word : {"python", "train.py"}) tries.add_command(word);
  tries.set_repeats(3);
  tries.set_steps(60);
  tries.set_warm_up(20);
  tries.mutable_as_is()->set_step_ns(70'000'000);
  tries.mutable_as_is()->set_verdict("dataloader");
  proto::TriedFix& fix = *tries.add_fixes();
  fix.set_tried("num_workers=4");
  fix.set_setting("DataLoader(num_workers=N)");
  fix.set_outcome("measured");
  fix.set_predicted_ns(36'700'000);
  fix.set_predicted_low_ns(34'850'000);
  fix.set_predicted_high_ns(38'370'000);
  fix.set_saved_ns(42'000'000);
  fix.set_saved_low_ns(39'800'000);
  fix.set_saved_high_ns(44'200'000);
  fix.set_applied("train.py:41 DataLoader(num_workers=4), was 0");
  fix.set_losses("equal");
  fix.set_losses_text("to the last bit");
  fix.set_permanent("DataLoader(..., num_workers=4)");
  fix.set_diff("--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-Data(x)\n+Data(x, num_workers=4)\n");
  proto::TriedFix& failed = *tries.add_fixes();
  failed.set_tried("compile=max-autotune");
  failed.set_outcome("out of memory");
  failed.set_reason("it ended with exit code 1");
  failed.set_most_ns(36'700'000);
  return tries;
}

std::string TextOf(const proto::Tries& tries) {
  TextPage page(false, 160);
  WriteTries(tries, page);
  return page.text();
}

TEST(TextTriesTest, TellsWhatSavesMostAndHowToKeepIt) {
  const std::string text = TextOf(SomeTries());
  for (const char* part :
       {"num_workers=4 saves 42.00 ms (39.80 ms to 44.20 ms) of a step of 70.00 ms: 60.0 %",
        "to keep it: DataLoader(..., num_workers=4)",
        "    @@ -1 +1 @@\n    -Data(x)\n    +Data(x, num_workers=4)\n",
        "36.70 ms (34.85 ms to 38.37 ms)", "train.py:41 DataLoader(num_workers=4), was 0",
        "up to 36.70 ms", "out of memory: it ended with exit code 1"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(TextTriesTest, OfTwoThatSaveAboutAsMuchTheSmallerChangeIsNamed) {
  proto::Tries tries = SomeTries();
  proto::TriedFix& both = *tries.add_fixes() = tries.fixes(0);
  both.set_tried("num_workers=4,pin_memory=1");
  both.set_saved_ns(43'000'000);
  ASSERT_NE(BestFix(tries), nullptr);
  EXPECT_EQ(FixName(*BestFix(tries)), "num_workers=4");
  tries.mutable_fixes(2)->set_saved_ns(60'000'000);
  EXPECT_EQ(FixName(*BestFix(tries)), "num_workers=4 + pin_memory=1");
}

TEST(TextTriesTest, WhatIsNotSureIsNotPraised) {
  proto::Tries tries = SomeTries();
  tries.mutable_fixes(0)->set_saved_low_ns(-1);
  EXPECT_EQ(BestFix(tries), nullptr);
  EXPECT_NE(TextOf(tries).find("none of what was tried saves time for sure"), std::string::npos);
  tries.clear_fixes();
  EXPECT_NE(TextOf(tries).find("no lever of this verdict"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
