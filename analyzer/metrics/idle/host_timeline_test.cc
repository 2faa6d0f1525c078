// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/host_timeline.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

constexpr Transfer kWithinDevice{.bytes = 1000, .kind = 8, .src_kind = 3, .dst_kind = 3};
constexpr Transfer kFromPageable{.bytes = 1000, .kind = 1, .src_kind = 1, .dst_kind = 3};

// A kernel until 10 ms, and one call of 300 us that ends when that kernel does: it waits for room.
// What it launches begins 1 ms later, behind another.
class FullQueue {
 public:
  FullQueue() {
    builder_.AddKernel(0, 10 * kMs, "first", builder_.AddApi(0, 5 * kUs, "cudaLaunchKernel"));
    builder_.AddKernel(10 * kMs, 11 * kMs, "second",
                       builder_.AddApi(10 * kUs, 15 * kUs, "cudaLaunchKernel"));
  }

  RankBuilder& builder() { return builder_; }
  std::uint32_t Call(const std::string& name) {
    return builder_.AddApi(10 * kMs - 300 * kUs, 10 * kMs, name);
  }
  std::vector<HostSegment> Segments() {
    return BuildHostTimeline(builder_.rank(), builder_.rank().devices[0]).segments;
  }
  void ExpectWait() {
    const std::vector<HostSegment> segments = Segments();
    ASSERT_EQ(segments.size(), 1U);
    EXPECT_EQ(segments[0].time.start, 10 * kMs - 300 * kUs);
    EXPECT_EQ(segments[0].time.end, 10 * kMs);
    EXPECT_EQ(segments[0].cause, IdleCause::kQueued);
    EXPECT_EQ(segments[0].waits_for, 0U);
  }

 private:
  RankBuilder builder_;
};

TEST(HostTimelineTest, NamesOfLoaders) {
  for (const char* name :
       {"DataLoader", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "load_batch",
        "data_loading", "get batch", "DALI"})
    EXPECT_TRUE(NamesDataLoading(name)) << name;
  for (const char* name : {"forward", "step 3", "update", "database", ""})
    EXPECT_FALSE(NamesDataLoading(name)) << name;
}

TEST(HostTimelineTest, ALaunchWaitsForRoomInTheQueue) {
  FullQueue run;
  run.builder().AddKernel(11 * kMs, 12 * kMs, "third", run.Call("cudaLaunchKernel"));
  run.ExpectWait();
}

TEST(HostTimelineTest, SoDoesACopyWithinTheDevice) {
  FullQueue run;
  run.builder().AddCopy(11 * kMs, 12 * kMs, kWithinDevice, run.Call("cudaMemcpyAsync"));
  run.ExpectWait();
}

TEST(HostTimelineTest, SoDoesAMemset) {
  FullQueue run;
  run.builder().AddMemset(11 * kMs, 12 * kMs, 64, run.Call("cudaMemsetAsync"));
  run.ExpectWait();
}

// Its call returns once the data was read: it does not wait for room alone.
TEST(HostTimelineTest, ACopyFromPageableMemoryIsOne) {
  FullQueue run;
  run.builder().AddCopy(10 * kMs - 100 * kUs, 10 * kMs - 50 * kUs, kFromPageable,
                        run.Call("cudaMemcpyAsync"));
  const std::vector<HostSegment> segments = run.Segments();
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(segments[0].cause, IdleCause::kCopy);
}

TEST(HostTimelineTest, ACallThatIsLongBesideAnIdleDeviceDoesNotWait) {
  FullQueue run;
  run.builder().AddMemset(10 * kMs + 50 * kUs, 12 * kMs, 64, run.Call("cudaMemsetAsync"));
  EXPECT_TRUE(run.Segments().empty());
}

}  // namespace
}  // namespace traceinject
