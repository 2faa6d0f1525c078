// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/arguments.h"

#include <gtest/gtest.h>

#include "analyzer/commands/analyze.h"

namespace traceinject {
namespace {

struct Parsed {
  std::optional<int> exit_code;
  std::optional<std::int64_t> from;
  std::optional<double> params;
  std::string out, err;
};

Parsed Parse(const std::vector<std::string>& arguments) {
  Parsed parsed;
  CLI::App app("About.", "analyze test");
  std::string output = "-", format;
  AddTime(app, "--from", parsed.from, "when");
  AddAmount(app, "--params", parsed.params, "how many");
  AddOutput(app, output);
  app.add_option("--format", format, "how");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  parsed.exit_code = ParseArguments(app, arguments);
  parsed.out = testing::internal::GetCapturedStdout();
  parsed.err = testing::internal::GetCapturedStderr();
  return parsed;
}

TEST(Arguments, TimesAndAmounts) {
  const Parsed parsed = Parse({"--from", "200ms", "--params=6.7B"});
  EXPECT_EQ(parsed.exit_code, std::nullopt);
  EXPECT_EQ(parsed.from, 200'000'000);
  EXPECT_EQ(parsed.params, 6.7e9);
  EXPECT_EQ(Parse({"--from", "-1s"}).from, -1'000'000'000);
}

TEST(Arguments, BadValuesAreBadUsage) {
  const Parsed time = Parse({"--from", "soon"});
  EXPECT_EQ(time.exit_code, kBadUsage);
  EXPECT_NE(time.err.find("'soon' is not a valid time"), std::string::npos) << time.err;
  EXPECT_EQ(Parse({"--params", "-3"}).exit_code, kBadUsage);
  EXPECT_EQ(time.out, "");
}

TEST(Arguments, MisspeltOptionsGetTheNearest) {
  const Parsed parsed = Parse({"--formt", "json"});
  EXPECT_EQ(parsed.exit_code, kBadUsage);
  EXPECT_NE(parsed.err.find("did you mean --format?"), std::string::npos) << parsed.err;
}

TEST(Arguments, HelpGoesToStdout) {
  const Parsed parsed = Parse({"--help"});
  EXPECT_EQ(parsed.exit_code, kReported);
  EXPECT_NE(parsed.out.find("About."), std::string::npos);
  EXPECT_EQ(parsed.err, "");
}

TEST(Arguments, Amounts) {
  EXPECT_EQ(ParseAmount("1.5e3").value(), 1500);
  EXPECT_EQ(ParseAmount("350M").value(), 350e6);
  EXPECT_EQ(ParseAmount("4k").value(), 4000);
  for (const char* bad : {"", "0", "-1", "1x", "inf", "nan", "M"})
    EXPECT_FALSE(ParseAmount(bad).ok()) << bad;
}

TEST(Arguments, RangesOfNumbers) {
  EXPECT_EQ(ParseNumberRange("10..20").value().first, 10);
  EXPECT_EQ(ParseNumberRange("10..20").value().last, 20);
  EXPECT_EQ(ParseNumberRange("7..7").value().last, 7);
  EXPECT_EQ(ParseNumberRange("0..4").value().first, 0) << "a program may count from 0";
  EXPECT_EQ(ParseNumberRange("-10..4").value().first, -10) << "steps before the program's first";
  for (const char* bad :
       {"", "10", "5..4", "1...4", "1..", "..4", "1..4x", "a..b", "1..99999999999999999999"})
    EXPECT_FALSE(ParseNumberRange(bad).ok()) << bad;
}

TEST(Commands, AreKnownByUniqueNamesAndHaveHelp) {
  for (const Command& command : Commands()) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(Analyze({std::string(command.name), "--help"}), kReported);
    const std::string help = testing::internal::GetCapturedStdout();
    EXPECT_NE(help.find("Examples:"), std::string::npos) << command.name;
    EXPECT_NE(help.find("analyze " + std::string(command.name)), std::string::npos) << help;
  }
}

TEST(Commands, UsageErrors) {
  const auto error_of = [](const std::vector<std::string>& arguments, int expected_code) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(Analyze(arguments), expected_code);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(error_of({}, kBadUsage).find("usage: analyze"), std::string::npos);
  EXPECT_NE(error_of({"reprot", "run.db"}, kBadUsage).find("did you mean 'report'?"),
            std::string::npos);
  EXPECT_NE(error_of({"sql", "run.db"}, kBadUsage).find("a recording and a query"),
            std::string::npos);
  for (const char* command :
       {"report", "gate", "diff", "sql", "kernels", "record", "watch", "ranks"})
    EXPECT_NE(error_of({command, "--bogus"}, kBadUsage).find("unknown option --bogus\n"),
              std::string::npos)
        << command;
  EXPECT_NE(error_of({"--bogus"}, kBadUsage).find("unknown option --bogus"), std::string::npos);
  EXPECT_NE(error_of({"--ful"}, kBadUsage).find("unknown option --ful; did you mean --full?"),
            std::string::npos)
      << "no run was given either";
  for (const std::string format : {"json", "html"})
    EXPECT_NE(
        error_of({"x.db", "--" + format}, kBadUsage).find("did you mean --format " + format + "?"),
        std::string::npos);
  EXPECT_NE(error_of({"x.db", "-z"}, kBadUsage).find("unknown option -z\n"), std::string::npos);
  EXPECT_NE(error_of({"kernels"}, kBadUsage).find("run is required"), std::string::npos);
  EXPECT_NE(error_of({"nowhere/run.db"}, kUnreadable).find("Likely reasons"), std::string::npos);
  EXPECT_NE(error_of({"x.db", "--from", "2", "--to", "1"}, kBadUsage)
                .find("--from must be earlier than --to"),
            std::string::npos);
  EXPECT_NE(error_of({"x.db", "--top", "-1"}, kBadUsage)
                .find("--top: '-1' is not an integer of at least 0"),
            std::string::npos);
  EXPECT_NE(error_of({"x.db", "--step-count", "0"}, kBadUsage)
                .find("--step-count: '0' is not an integer of at least 1"),
            std::string::npos);
  // What it meant once is told.
  EXPECT_NE(error_of({"x.db", "--steps", "50"}, kBadUsage).find("--step-count"), std::string::npos);
  EXPECT_NE(error_of({"x.db", "--steps", "1..2", "--from", "1"}, kBadUsage).find("excludes"),
            std::string::npos);
  EXPECT_NE(error_of({"x.db", "--step-regex", "step ["}, kBadUsage)
                .find("'step [' is not a regular expression"),
            std::string::npos);
  EXPECT_NE(error_of({"x.db", "--format", "xml"}, kBadUsage).find("xml"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
