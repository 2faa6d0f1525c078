// SPDX-License-Identifier: Apache-2.0
// `analyze code` where there is little to show.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/commands/analyze.h"
#include "analyzer/import/testing/run_db_fixture.h"
#include "machine/testing/temporary_folder.h"
#include "machine/testing/text.h"

namespace traceinject {
namespace {

struct Called {
  std::string out, err;
};

class CodeTest : public testing::Test {
 protected:
  // A kernel whose launch was made at this place; "": no stacks.
  void Record(const std::string& function, const std::string& module = {}, int version = 0,
              const std::string& python = "python") {
    RunDbFixture file(path_);
    file.AddDevice({});
    const auto call = file.AddLaunchedKernel({.start_ns = 10'000, .dur_ns = 50'000, .name = "gemm"},
                                             1'000, 5'000);
    if (!function.empty()) {
      file.AddStackSample({.time_ns = 1'000,
                           .frames = {{.function = function, .module = module}},
                           .kind = StackKind::kLaunch,
                           .correlation = call});
    }
    file.AddFact("stacks", python, "3.11.9");
    if (version != 0) file.Execute("PRAGMA user_version = " + std::to_string(version));
    file.Close();
  }
  Called Code(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"code", path_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    EXPECT_EQ(Analyze(arguments), kReported);
    Called called;
    called.out = testing::internal::GetCapturedStdout();
    called.err = testing::internal::GetCapturedStderr();
    return called;
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "run.db";
};

TEST_F(CodeTest, SaysWhyThereAreNoModules) {
  for (const char* flag : {"--modules", "--each-module"}) {
    Record("train");
    EXPECT_TRUE(Says(Code({flag}).out, "no stack was in a call of a PyTorch module"));
    EXPECT_FALSE(Says(Code({flag}).out, "(none)"));
    Record("train", "", 6);
    EXPECT_TRUE(Says(Code({flag}).out, "recorded by an older version"));
    Record("train", "", 0, "native");
    EXPECT_TRUE(Says(Code({flag}).out, "no Python ran"));
    Record("");
    EXPECT_TRUE(Says(Code({flag}).out, "no stacks were recorded"));
  }
}

TEST_F(CodeTest, SaysSoBesideCsv) {
  Record("train");
  const Called called = Code({"--modules", "--format", "csv"});
  EXPECT_TRUE(Says(called.err, "note: no modules: ")) << called.err;
  EXPECT_FALSE(Says(called.out, "(none)")) << called.out;
}

TEST_F(CodeTest, WhatIsOutsideOfModulesIsARow) {
  Record("forward", "Net");
  EXPECT_TRUE(Says(Code({"--modules"}).out, "Net"));
  EXPECT_FALSE(Says(Code({"--modules"}).out, "no modules"));
}

}  // namespace
}  // namespace traceinject
