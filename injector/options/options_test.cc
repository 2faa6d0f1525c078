// SPDX-License-Identifier: Apache-2.0
#include "injector/options/options.h"

#include <gtest/gtest.h>

#include "injector/cupti/activity_kinds.h"

namespace traceinject {
namespace {

Options Parse(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  return ParseOptions(environment.data());
}

TEST(OptionsTest, DefaultsComeFromTheTable) {
  const Options options = Parse({"PATH=/bin"});
  EXPECT_TRUE(options.enabled);
  EXPECT_EQ(options.output, "run.db");
  EXPECT_EQ(options.max_size_bytes, std::int64_t{4} << 30);
  EXPECT_EQ(options.flush_ms, 750);
  EXPECT_FALSE(options.kinds.empty());
  EXPECT_TRUE(options.unknown.empty());
  EXPECT_TRUE(options.invalid.empty());
  EXPECT_TRUE(options.changed.empty());
}

TEST(OptionsTest, EveryDefaultIsAValueOfItsOption) {
  for (const OptionInfo& info : ListOptions()) {
    // A value other than the default goes through the parser; the default itself does too, at the
    // start of every parse. Spelled with another letter case where there is one, so that it is not
    // taken for "unchanged".
    const std::string entry = std::string(info.name) + "=" + std::string(info.default_value);
    EXPECT_TRUE(Parse({entry.c_str()}).invalid.empty()) << entry;
  }
}

TEST(OptionsTest, TakesValues) {
  const Options options =
      Parse({"TRACEINJECT=0", "TRACEINJECT_OUTPUT=/tmp/%r.db", "TRACEINJECT_KINDS=kernel,memset",
             "TRACEINJECT_MAX_SIZE=512M", "TRACEINJECT_NVTX=off"});
  EXPECT_FALSE(options.enabled);
  EXPECT_EQ(options.output, "/tmp/%r.db");
  EXPECT_EQ(options.kinds, (std::vector<std::string>{"kernel", "memset"}));
  EXPECT_EQ(options.max_size_bytes, 512 << 20);
  EXPECT_FALSE(options.nvtx);
  EXPECT_EQ(options.changed.size(), 5U);
}

TEST(OptionsTest, ReportsUnknownNamesAndBadValuesAndKeepsTheDefault) {
  const Options options = Parse({"TRACEINJECT_OUTPU=x", "TRACEINJECT_FLUSH_MS=soon",
                                 "TRACEINJECT_KINDS=kernel,coffee", "TRACEINJECT_MAX_SIZE=-4"});
  EXPECT_EQ(options.unknown, std::vector<std::string>{"TRACEINJECT_OUTPU"});
  ASSERT_EQ(options.invalid.size(), 3U);
  EXPECT_NE(options.invalid[0].find("TRACEINJECT_FLUSH_MS=soon"), std::string::npos);
  EXPECT_EQ(options.flush_ms, 750);
  EXPECT_EQ(options.max_size_bytes, std::int64_t{4} << 30);
}

TEST(OptionsTest, WhenAStallIsOne) {
  EXPECT_EQ(Parse({}).stall_ns, 60'000'000'000);
  EXPECT_EQ(Parse({"TRACEINJECT_STALL=10m"}).stall_ns, 600'000'000'000);
  EXPECT_EQ(Parse({"TRACEINJECT_STALL=0"}).stall_ns, 0);
  EXPECT_EQ(Parse({"TRACEINJECT_STALL=0s"}).invalid.size(), 1U);
}

TEST(OptionsTest, BlocksOfStepsByTurns) {
  EXPECT_EQ(Parse({}).ab_steps, 0);
  const Options usual = Parse({"TRACEINJECT_AB=steps"});
  EXPECT_EQ(usual.ab_steps, 20);
  EXPECT_TRUE(usual.window.Wants({19, 0}));
  EXPECT_FALSE(usual.window.Wants({20, 0}));
  EXPECT_EQ(Parse({"TRACEINJECT_AB=steps:50"}).ab_steps, 50);
  for (const char* bad : {"TRACEINJECT_AB=steps:4", "TRACEINJECT_AB=seconds", "TRACEINJECT_AB=1",
                          "TRACEINJECT_AB=steps:", "TRACEINJECT_AB=stepss"})
    EXPECT_EQ(Parse({bad}).invalid.size(), 1U) << bad;
  const Options both = Parse({"TRACEINJECT_AB=steps", "TRACEINJECT_WINDOW=steps:3-9"});
  EXPECT_EQ(both.invalid.size(), 1U);
  EXPECT_FALSE(both.window.Wants({19, 0})) << "the window is used";
}

TEST(OptionsTest, WhatAFlightRecorderKeeps) {
  EXPECT_FALSE(Parse({}).keep_last);
  EXPECT_FALSE(Parse({"TRACEINJECT_KEEP_LAST=off"}).keep_last);
  const Options all = Parse({"TRACEINJECT_KEEP_LAST=on"});
  EXPECT_TRUE(all.keep_last);
  EXPECT_EQ(all.keep_last_ns, 0);
  for (const auto& [text, seconds] : {std::pair{"60s", 60}, {"10m", 600}, {"2h", 7200}}) {
    const std::string entry = std::string("TRACEINJECT_KEEP_LAST=") + text;
    const Options options = Parse({entry.c_str()});
    EXPECT_TRUE(options.keep_last) << entry;
    EXPECT_EQ(options.keep_last_ns, std::int64_t{seconds} * 1'000'000'000) << entry;
  }
  for (const char* bad :
       {"TRACEINJECT_KEEP_LAST=60", "TRACEINJECT_KEEP_LAST=0s", "TRACEINJECT_KEEP_LAST=-5s",
        "TRACEINJECT_KEEP_LAST=s", "TRACEINJECT_KEEP_LAST=9223372036854775807h"}) {
    const Options options = Parse({bad});
    EXPECT_FALSE(options.keep_last) << bad;
    EXPECT_EQ(options.invalid.size(), 1U) << bad;
  }
}

TEST(OptionsTest, AFlightRecorderHasRoomForSomeFlushes) {
  const Options options = Parse({"TRACEINJECT_MAX_SIZE=64K", "TRACEINJECT_KEEP_LAST=1"});
  EXPECT_EQ(options.max_size_bytes, kMinKeptBytes);
  EXPECT_EQ(options.invalid.size(), 1U);
  EXPECT_EQ(Parse({"TRACEINJECT_MAX_SIZE=64K"}).max_size_bytes, 65536);
}

TEST(OptionsTest, Sizes) {
  std::int64_t bytes = 0;
  EXPECT_TRUE(ParseSize("12345", &bytes));
  EXPECT_EQ(bytes, 12345);
  EXPECT_TRUE(ParseSize("3k", &bytes));
  EXPECT_EQ(bytes, 3072);
  EXPECT_FALSE(ParseSize("", &bytes));
  EXPECT_FALSE(ParseSize("G", &bytes));
  EXPECT_FALSE(ParseSize("9999999999999G", &bytes));
  EXPECT_FALSE(ParseSize("1.5G", &bytes));
}

TEST(OptionsTest, TheHelpNamesEveryKind) {
  const std::string names = TRACEINJECT_ACTIVITY_KIND_NAMES;
  for (const ActivityKind& kind : kActivityKinds)
    EXPECT_NE(names.find(kind.name), std::string::npos) << kind.name;
}

TEST(OptionsTest, SamplesASecond) {
  EXPECT_EQ(Parse({}).telemetry_hz, 10);
  EXPECT_EQ(Parse({"TRACEINJECT_TELEMETRY_HZ=0"}).telemetry_hz, 0);
  EXPECT_EQ(Parse({"TRACEINJECT_TELEMETRY_HZ=100"}).telemetry_hz, 100);
  for (const char* bad : {"TRACEINJECT_TELEMETRY_HZ=101", "TRACEINJECT_TELEMETRY_HZ=-1"}) {
    EXPECT_EQ(Parse({bad}).telemetry_hz, 10);
    EXPECT_EQ(Parse({bad}).invalid.size(), 1U);
  }
}

// In nanoseconds it has to fit, or the writer would flush without a pause.
TEST(OptionsTest, TimeBetweenFlushes) {
  EXPECT_EQ(Parse({"TRACEINJECT_FLUSH_MS=3600000"}).flush_ms, 3'600'000);
  for (const char* bad : {"TRACEINJECT_FLUSH_MS=49", "TRACEINJECT_FLUSH_MS=9223372036854775807"}) {
    EXPECT_EQ(Parse({bad}).flush_ms, 750);
    EXPECT_EQ(Parse({bad}).invalid.size(), 1U);
  }
}

}  // namespace
}  // namespace traceinject
