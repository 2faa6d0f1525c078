// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/recorder_options.h"

#include <gtest/gtest.h>

#include "analyzer/commands/shared/arguments.h"
#include "injector/options/options.h"

namespace traceinject {
namespace {

using Words = std::vector<std::string>;

std::optional<int> Parse(const Words& arguments, std::map<std::string, std::string>* values) {
  CLI::App app("About.", "analyze test");
  AddRecorderOptions(app, *values);
  testing::internal::CaptureStderr();
  const auto exit_code = ParseArguments(app, arguments);
  testing::internal::GetCapturedStderr();
  return exit_code;
}

TEST(RecorderOptions, EveryRowOfTheTableIsAnOption) {
  std::map<std::string, std::string> values;
  CLI::App app("About.", "analyze test");
  AddRecorderOptions(app, values);
  for (const OptionInfo& option : ListOptions()) {
    if (option.name == "TRACEINJECT" || option.name == "TRACEINJECT_OUTPUT") continue;
    EXPECT_NE(app.get_option_no_throw(FlagOf(option.name)), nullptr) << option.name;
  }
}

TEST(RecorderOptions, ValuesAreThoseOfTheirVariables) {
  std::map<std::string, std::string> values;
  EXPECT_EQ(Parse({"--max-size", "1G", "--window=steps:10-20"}, &values), std::nullopt);
  EXPECT_EQ(values, (std::map<std::string, std::string>{{"TRACEINJECT_MAX_SIZE", "1G"},
                                                        {"TRACEINJECT_WINDOW", "steps:10-20"}}));
}

TEST(RecorderOptions, WhatTheRecorderWouldNotTakeIsBadUsage) {
  std::map<std::string, std::string> values;
  EXPECT_EQ(Parse({"--max-size", "much"}, &values), 2);
  EXPECT_EQ(Parse({"--flush-ms", "1"}, &values), 2);
  EXPECT_TRUE(values.empty());
}

TEST(RecorderOptions, PreloadedLibrariesStayBehindOurs) {
  EXPECT_EQ(RecordedEnvironment({"A=1", "LD_PRELOAD=/x.so /y.so"}, {}, "/t.so"),
            (Words{"A=1", "LD_PRELOAD=/t.so:/x.so /y.so"}));
  EXPECT_EQ(RecordedEnvironment({"LD_PRELOAD=/x.so:/t.so"}, {}, "/t.so"),
            (Words{"LD_PRELOAD=/x.so:/t.so"}));
  EXPECT_EQ(RecordedEnvironment({"LD_PRELOAD="}, {}, "/t.so"), (Words{"LD_PRELOAD=/t.so"}));
}

TEST(RecorderOptions, ValuesGivenReplaceVariables) {
  EXPECT_EQ(RecordedEnvironment({"TRACEINJECT_LOG=a", "B=2"}, {{"TRACEINJECT_LOG", "b"}}, "/t.so"),
            (Words{"B=2", "TRACEINJECT_LOG=b", "LD_PRELOAD=/t.so"}));
}

}  // namespace
}  // namespace traceinject
