// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/code_stacks.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "analyzer/model/testing/rank_builder.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class CodeStacksTest : public testing::Test {
 protected:
  CodeStacksTest() {
    RankBuilder builder;
    const auto outer = builder.AddStack({{"main", "/w/train.py", 9}});
    const auto inner = builder.AddStack({{"main", "/w/train.py", 9}, {"a;b", "/w/x.py", 2}});
    builder.AddLook(0, inner, StackKind::kTimed, 0, 0, 2, 20);
    builder.AddLook(30, outer);
    builder.AddLook(40, inner);
    builder.AddLook(45, outer, StackKind::kLaunch, 7);  // no sample by time
    builder.AddLook(50, outer, StackKind::kTimed, 0, 1);
    builder.rank().facts.push_back({"stacks", "period_ns", "10", ""});
    run_.ranks = {builder.rank()};
  }
  std::string Text(ExportCounts (*write)(const traceinject::Run&, OutputFile&)) {
    const std::string path = folder_ / "out";
    auto file = OutputFile::Create(path);
    EXPECT_EQ(write(run_, file.value()).events, 6U);
    EXPECT_TRUE(file.value().Close().ok());
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TemporaryFolder folder_;
  traceinject::Run run_;
};

TEST_F(CodeStacksTest, Collapsed) {
  EXPECT_EQ(Text(WriteCollapsedStacks),
            "python (100);main (train.py:9) 1\n"
            "python (100);main (train.py:9);a:b (x.py:2) 4\n"
            "autograd (101);main (train.py:9) 1\n");
}

TEST_F(CodeStacksTest, Speedscope) {
  const std::string text = Text(WriteSpeedscope);
  EXPECT_NE(text.find("{\"name\":\"main\",\"file\":\"/w/train.py\",\"line\":9}"),
            std::string::npos);
  EXPECT_NE(text.find("\"samples\":[[0,1],[0],[0,1]],\n\"weights\":[30,10,10]"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\"name\":\"autograd (101)\",\"unit\":\"nanoseconds\""), std::string::npos);
}

}  // namespace
}  // namespace traceinject
