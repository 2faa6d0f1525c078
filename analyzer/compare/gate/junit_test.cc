// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/gate/junit.h"

#include <gtest/gtest.h>

#include "machine/testing/text.h"

namespace traceinject {
namespace {

using proto::ConditionResult;

ConditionResult Condition(const std::string& text, ConditionResult::Outcome outcome,
                          const std::string& reason) {
  ConditionResult one;
  one.set_condition(text);
  one.set_origin("--require");
  one.set_outcome(outcome);
  one.set_reason(reason);
  return one;
}

proto::GateResult Result() {
  proto::GateResult result;
  *result.add_conditions() = Condition("mfu >= 0.4", ConditionResult::OUTCOME_PASSED, "");
  *result.add_conditions() =
      Condition("step_ms <= 10", ConditionResult::OUTCOME_FAILED, "it is 12 ms");
  *result.add_conditions() =
      Condition("hfu >= 0.1", ConditionResult::OUTCOME_UNKNOWN, "it is unknown: why");
  result.set_cause("kernel \"a<b>\" & 'c'\033[31m\x01 \xEF\xBF\xBF \xFF ]]>");
  return result;
}

TEST(JunitTest, ATestCaseACondition) {
  const std::string text = WriteJunit(Result(), false);
  EXPECT_TRUE(text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite "));
  EXPECT_TRUE(Says(text, "tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\""));
  EXPECT_TRUE(Says(text, "name=\"mfu &gt;= 0.4\" time=\"0\"/>"));
  EXPECT_TRUE(Says(text,
                   "<failure type=\"failed\" message=\"it is 12 ms\">--require: it is 12 ms; "
                   "cause: kernel"));
  EXPECT_TRUE(Says(text, "<failure type=\"unknown\" message=\"it is unknown: why\">"));
}

TEST(JunitTest, AllowedUnknownFiguresAreSkipped) {
  const std::string text = WriteJunit(Result(), true);
  EXPECT_TRUE(Says(text, "failures=\"1\" errors=\"0\" skipped=\"1\""));
  EXPECT_TRUE(Says(text, "<skipped message=\"it is unknown: why\"/>"));
}

TEST(JunitTest, WhatWasRecordedIsEscaped) {
  const std::string text = WriteJunit(Result(), false);
  EXPECT_TRUE(Says(text, "kernel &quot;a&lt;b&gt;&quot; &amp; &apos;c&apos;"));
  EXPECT_TRUE(Says(text, "]]&gt;"));
  for (const char* forbidden : {"\033", "\x01", "\xEF\xBF\xBF", "\xFF"})
    EXPECT_FALSE(Says(text, forbidden)) << forbidden;
}

}  // namespace
}  // namespace traceinject
