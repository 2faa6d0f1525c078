// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tries/foretell.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

// A step of 50 ms, of which 40 are waited for the loader.
proto::Verdict Waiting(const std::string& workers_now) {
  proto::Verdict verdict;
  verdict.set_label("dataloader");
  verdict.set_new_step_ns(10 * kMs);
  verdict.set_saved_ns(40 * kMs);
  verdict.set_saved_low_ns(30 * kMs);
  verdict.set_saved_high_ns(50 * kMs);
  proto::LeverValue& value = *verdict.add_levers()->add_values();
  value.set_name("num_workers");
  value.set_current(workers_now);
  return verdict;
}

proto::TriedFix Foretold(const std::string& tried,
                         const std::vector<const proto::Verdict*>& verdicts) {
  proto::TriedFix fix;
  fix.set_tried(tried);
  fix.set_label("dataloader");
  Foretell(verdicts, fix);
  return fix;
}

TEST(ForetellTest, EnoughWorkersTakeAllOfTheWaitAway) {
  const proto::Verdict verdict = Waiting("1");
  const proto::TriedFix fix = Foretold("num_workers=5", {&verdict});
  EXPECT_EQ(fix.predicted_ns(), 40 * kMs) << "50 ms of work by 5 of them are the 10 ms that remain";
  EXPECT_EQ(fix.predicted_low_ns(), 30 * kMs);
  EXPECT_EQ(fix.predicted_high_ns(), 50 * kMs);
}

TEST(ForetellTest, FewerWorkersTakeAPartOfIt) {
  const proto::Verdict verdict = Waiting("1");
  const proto::TriedFix fix = Foretold("pin_memory=1,num_workers=2", {&verdict});
  EXPECT_EQ(fix.predicted_ns(), 25 * kMs) << "two of them make a batch in 25 ms";
  EXPECT_EQ(fix.predicted_low_ns(), 18'750'000);
  EXPECT_EQ(Foretold("num_workers=1", {&verdict}).predicted_ns(), 0) << "as it is";
  EXPECT_EQ(Foretold("num_workers=0", {&verdict}).predicted_ns(), 0) << "none";
}

TEST(ForetellTest, WithoutWorkersTheProgramLoadsWhileItWaits) {
  const proto::Verdict verdict = Waiting("0");
  EXPECT_EQ(Foretold("num_workers=1", {&verdict}).predicted_ns(), 10 * kMs)
      << "40 ms in one worker";
  EXPECT_EQ(Foretold("num_workers=4", {&verdict}).predicted_ns(), 40 * kMs);
}

TEST(ForetellTest, RunsOfTheSameLabelForetellTogether) {
  const proto::Verdict first = Waiting("0");
  proto::Verdict second = first, other = first;
  second.set_saved_ns(44 * kMs);
  other.set_label("launch_bound");
  const proto::TriedFix fix = Foretold("num_workers=8", {&first, &second, &other});
  EXPECT_EQ(fix.predicted_ns(), 42 * kMs);
  EXPECT_EQ(fix.predicted_low_ns(), 30 * kMs);
}

TEST(ForetellTest, WorkersThatStartAgainSaveNoMoreThanTheCause) {
  proto::Verdict verdict = Waiting("0");
  verdict.mutable_levers(0)->add_values()->set_name("epochs that begin in these steps");
  EXPECT_FALSE(Foretold("num_workers=4", {&verdict}).has_predicted_ns());
  EXPECT_EQ(Foretold("num_workers=4", {&verdict}).most_ns(), 40 * kMs);
  EXPECT_EQ(Foretold("num_workers=4,persistent_workers=1", {&verdict}).predicted_ns(), 40 * kMs);
}

TEST(ForetellTest, NothingOfLeversThatReachBeyondTheCause) {
  proto::Verdict verdict = Waiting("0");
  verdict.set_label("memory_bound");
  proto::TriedFix fix;
  fix.set_tried("compile=default");
  fix.set_label("memory_bound");
  Foretell({&verdict}, fix);
  EXPECT_FALSE(fix.has_predicted_ns());
  EXPECT_FALSE(fix.has_most_ns());
}

TEST(ForetellTest, OtherLeversSaveNoMoreThanTheCause) {
  const proto::Verdict verdict = Waiting("0");
  const proto::TriedFix fix = Foretold("pin_memory=1", {&verdict});
  EXPECT_FALSE(fix.has_predicted_ns());
  EXPECT_EQ(fix.most_ns(), 40 * kMs);
}

}  // namespace
}  // namespace traceinject
