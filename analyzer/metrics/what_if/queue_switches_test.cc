// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/queue_switches.h"

#include <gtest/gtest.h>

#include "analyzer/metrics/what_if/replay.h"
#include "analyzer/model/testing/kernel_names.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

// Two steps of 100 us; kernels of 1 us.
class Queued {
 public:
  void Add(TimeNs called, TimeNs start) {
    const std::uint32_t call = builder_.AddApi(called, called + 1'000, "cudaLaunchKernel");
    builder_.AddKernel(start, start + 1'000, kGemm, call);
  }
  std::vector<TimeNs> over() {
    Steps steps;
    for (const TimeNs start : {0, 100'000})
      steps.steps.emplace_back().time = {start, start + 100'000};
    return SwitchesOverGraph(builder_.rank(), builder_.rank().devices[0], steps);
  }

 private:
  RankBuilder builder_;
};

TEST(QueueSwitchesTest, ShortPausesBeforeWhatWasQueuedCount) {
  Queued queued;
  queued.Add(0, 10'000);
  queued.Add(2'000, 12'000);    // 1,000 ns after the one before
  queued.Add(3'000, 14'500);    // 1,500 ns
  queued.Add(4'000, 20'000);    // too long for a switch
  queued.Add(21'500, 22'000);   // launched once the device had nothing to do
  queued.Add(30'000, 130'000);  // the step after
  queued.Add(31'000, 131'200);  // less than inside a graph
  queued.Add(32'000, 133'200);
  EXPECT_EQ(queued.over(),
            (std::vector<TimeNs>{2'500 - 2 * kGraphSwitchNs, 1'000 - kGraphSwitchNs}));
}

TEST(QueueSwitchesTest, NothingRecordedHasNone) {
  Queued queued;
  EXPECT_EQ(queued.over(), (std::vector<TimeNs>{0, 0}));
}

}  // namespace
}  // namespace traceinject
