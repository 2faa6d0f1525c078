// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/write_tries_html.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(WriteTriesHtmlTest, NamesWhatSavesMostAndDrawsBothSavings) {
  proto::Tries tries;
  tries.add_command("python");
  tries.add_command("<train>.py");
  tries.mutable_as_is()->set_step_ns(70'000'000);
  proto::TriedFix& fix = *tries.add_fixes();
  fix.set_tried("num_workers=4");
  fix.set_outcome("measured");
  fix.set_predicted_ns(36'700'000);
  fix.set_saved_ns(42'000'000);
  fix.set_saved_low_ns(39'800'000);
  fix.set_saved_high_ns(44'200'000);
  fix.mutable_run()->set_step_ns(28'000'000);
  fix.set_diff("-Data(a < b)\n");
  const std::string page = WriteTriesHtml(tries);
  EXPECT_NE(page.find("num_workers=4 saves 60.0 % of a step"), std::string::npos);
  EXPECT_NE(page.find("num_workers=4, predicted"), std::string::npos);
  EXPECT_NE(page.find("42.00 ms (39.80 ms to 44.20 ms)"), std::string::npos);
  EXPECT_NE(page.find(">-Data(a &lt; b)\n</pre>"), std::string::npos)
      << "as it is, on its own lines";
  EXPECT_EQ(page.find("<train>"), std::string::npos) << "text is escaped";
}

TEST(WriteTriesHtmlTest, NothingForSure) {
  const std::string page = WriteTriesHtml(proto::Tries());
  EXPECT_NE(page.find("nothing that was tried saves time for sure"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
