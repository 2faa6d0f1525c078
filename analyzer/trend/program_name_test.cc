// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trend/program_name.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(ProgramNameTest, IsWhatStaysFromRunToRun) {
  EXPECT_EQ(ProgramName("/opt/conda/bin/python3 -u src/train.py --lr 1 other.py"), "train.py");
  EXPECT_EQ(ProgramName("python -m package.train --epochs 3"), "package.train");
  EXPECT_EQ(ProgramName("./build/train  --epochs 3"), "train");
  EXPECT_EQ(ProgramName("python -m"), "python");
  EXPECT_EQ(ProgramName(""), "");
}

}  // namespace
}  // namespace traceinject
