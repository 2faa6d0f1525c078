// SPDX-License-Identifier: Apache-2.0
// `analyze diff` and `analyze gate` as they are called, on the recordings before and after a fix.
#include <gtest/gtest.h>

#include <fstream>

#include "analyzer/commands/analyze.h"
#include "machine/testing/temporary_folder.h"
#include "machine/testing/text.h"

namespace traceinject {
namespace {

const std::string kSlow = std::string(TRACEINJECT_RECORDINGS) + "/slow_loader_h200.db.zst";
const std::string kFixed = std::string(TRACEINJECT_RECORDINGS) + "/slow_loader_fixed_h200.db.zst";

struct Called {
  int exit_code = 0;
  std::string out, err;
};

Called Call(const std::vector<std::string>& arguments) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Called called;
  called.exit_code = Analyze(arguments);
  called.out = testing::internal::GetCapturedStdout();
  called.err = testing::internal::GetCapturedStderr();
  return called;
}

TEST(DiffCommandTest, TextAndJson) {
  const Called text = Call({"diff", kSlow, kFixed});
  EXPECT_EQ(text.exit_code, kReported);
  EXPECT_TRUE(text.out.starts_with("faster\n")) << text.out;
  EXPECT_TRUE(Says(text.out, "verdict: Data loading (dataloader) (costs 38."));
  EXPECT_TRUE(Says(text.out, "num_workers: 0 -> 4"));
  const Called json = Call({"diff", kSlow, kFixed, "--format", "json"});
  EXPECT_EQ(json.exit_code, kReported);
  EXPECT_TRUE(Says(json.out, "\"outcome\": \"faster\""));
}

TEST(DiffCommandTest, TwoRunsAreNeeded) {
  EXPECT_EQ(Call({"diff", kSlow}).exit_code, kBadUsage);
  EXPECT_EQ(Call({"diff", kSlow, kFixed, kSlow}).exit_code, kBadUsage);
  EXPECT_EQ(Call({"diff", kSlow, "/nowhere/run.db"}).exit_code, kUnreadable);
}

TEST(GateCommandTest, PassesAndFails) {
  EXPECT_EQ(Call({"gate", kFixed, "--require", "gpu_busy >= 85%"}).exit_code, kReported);
  const Called failed =
      Call({"gate", kSlow, "--require", "gpu_busy >= 85%", "--require", "verdict != dataloader"});
  EXPECT_EQ(failed.exit_code, kGateFailed);
  EXPECT_TRUE(Says(failed.out, "gate: FAILED, 2 conditions")) << failed.out;
  EXPECT_TRUE(Says(failed.out, "num_workers 0 -> 2")) << failed.out;
  EXPECT_EQ(failed.err, "");
}

TEST(GateCommandTest, Baseline) {
  EXPECT_EQ(Call({"gate", kFixed, "--baseline", kFixed}).exit_code, kReported);
  EXPECT_EQ(Call({"gate", kFixed, "--baseline", kSlow}).exit_code, kReported);
  EXPECT_EQ(Call({"gate", kSlow, "--baseline", kFixed}).exit_code, kGateFailed);
  EXPECT_EQ(Call({"gate", kSlow, "--baseline", kFixed, "--tolerance", "300%"}).exit_code,
            kReported);
  EXPECT_EQ(Call({"gate", kSlow, "--baseline", kFixed, "--compare", "compute_ms,kernels_per_step"})
                .exit_code,
            kReported);
}

TEST(GateCommandTest, BudgetJunitAndJson) {
  const TemporaryFolder folder;
  std::ofstream(folder / "budget.txt") << "# limits\nstep_ms <= 50\nmfu >= 0.3\n";
  const std::string junit = folder / "gate.xml";
  const Called strict = Call(
      {"gate", kFixed, "--budget", folder / "budget.txt", "--junit", junit, "--format", "json"});
  EXPECT_EQ(strict.exit_code, kGateFailed);
  EXPECT_TRUE(Says(strict.out, "\"passed\": false"));
  EXPECT_TRUE(Says(ReadText(junit), "tests=\"2\" failures=\"1\""));
  EXPECT_EQ(
      Call({"gate", kFixed, "--budget", folder / "budget.txt", "--junit", junit, "--allow-unknown"})
          .exit_code,
      kReported);
  EXPECT_TRUE(Says(ReadText(junit), "skipped=\"1\""));
  // With what was missing.
  EXPECT_EQ(Call({"gate", kFixed, "--budget", folder / "budget.txt", "--params", "350M",
                  "--tokens-per-step", "8192"})
                .exit_code,
            kReported);
}

TEST(GateCommandTest, MistakesAreBadUsage) {
  for (const std::vector<std::string>& rest :
       std::vector<std::vector<std::string>>{{},
                                             {"--require", "stepms <= 3"},
                                             {"--require", "verdict != dataloadr"},
                                             {"--baseline", kFixed, "--compare", "step_ms_p95"},
                                             {"--baseline", kFixed, "--tolerance", "-3"},
                                             {"--require", "mfu > 1", "--compare", "mfu"},
                                             {"--budget", "/nowhere/budget.txt"}}) {
    std::vector<std::string> arguments = {"gate", kFixed};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    const Called called = Call(arguments);
    EXPECT_EQ(called.exit_code, kBadUsage) << called.err;
    EXPECT_TRUE(Says(called.err, "analyze gate")) << called.err;
    EXPECT_EQ(called.out, "");
  }
  EXPECT_EQ(Call({"gate", "--require", "mfu > 1"}).exit_code, kBadUsage);
  EXPECT_EQ(Call({"gate", "/nowhere/run.db", "--require", "mfu > 1"}).exit_code, kUnreadable);
  EXPECT_EQ(Call({"gate", kFixed, "--baseline", "/nowhere/run.db"}).exit_code, kUnreadable);
  const Called list = Call({"gate", "--list"});
  EXPECT_EQ(list.exit_code, kReported);
  EXPECT_TRUE(Says(list.out, "exposed_comm_share"));
}

}  // namespace
}  // namespace traceinject
