// SPDX-License-Identifier: Apache-2.0
#include "injector/python/decoder.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <thread>

#include "injector/base/counters.h"
#include "injector/base/ring.h"
#include "injector/base/sources.h"
#include "injector/base/state.h"
#include "injector/python/attention_shapes.h"
#include "injector/python/reports.h"

namespace traceinject {
namespace {

constexpr std::int64_t kBase = 1'000'000;

class PythonTest : public testing::Test {
 protected:
  void SetUp() override {
    Drain();  // what other tests left
    batch_ = Batch();
    g_state.store(State::kRunning);
    g_sources.store(~0u);
  }
  void TearDown() override { g_state.store(State::kArmed); }

  void Drain() {
    g_rings.DrainAll(
        [&](int, int tid, const EventHeader& event) {
          if (PythonDecoder::Decodes(static_cast<EventType>(event.type)))
            decoder_.Decode(tid, reinterpret_cast<const PythonEvent&>(event));
        },
        [](int) {});
  }

  Batch batch_;
  Dictionary dictionary_{&batch_};
  PythonDecoder decoder_{kBase, &dictionary_, &batch_};
};

TEST_F(PythonTest, WorkersAreToldOnce) {
  ReportLoader(7, 4, 1, 0, 2, 32);
  ReportWorker(4711, 7);
  ReportWorker(4712, 8);
  Drain();
  const auto workers = decoder_.TakeWorkers();
  ASSERT_EQ(workers.size(), 2U);
  EXPECT_EQ(workers[0].pid, 4711);
  EXPECT_EQ(workers[0].loader, 1U);
  EXPECT_EQ(workers[1].loader, 0U) << "of a loader that was not told";
  EXPECT_TRUE(decoder_.TakeWorkers().empty());
}

TEST_F(PythonTest, ReportsBecomeRows) {
  ReportLoader(7, 4, 1, 0, 2, 32);
  ReportDataWait(kBase + 10, kBase + 30, 7, 5, 32);
  ReportDataWait(kBase + 40, kBase + 41, 7, -1, -1);
  ReportStep(kBase + 50, 3);
  ReportSpan(kBase + 60, kBase + 70, 2, 1);
  Drain();
  ASSERT_EQ(batch_.data_loaders.size(), 1U);
  const DataLoaderRow& loader = batch_.data_loaders[0];
  EXPECT_EQ(loader.id, 1U);
  EXPECT_EQ(loader.workers, 4);
  EXPECT_TRUE(loader.pin_memory);
  EXPECT_FALSE(loader.persistent_workers);
  EXPECT_EQ(loader.prefetch_factor, 2);
  EXPECT_EQ(loader.batch_size, 32);
  ASSERT_EQ(batch_.data_waits.size(), 2U);
  EXPECT_EQ(batch_.data_waits[0].start, 10);
  EXPECT_EQ(batch_.data_waits[0].dur, 20);
  EXPECT_EQ(batch_.data_waits[0].loader, 1U);
  EXPECT_EQ(batch_.data_waits[0].batch, 5);
  EXPECT_EQ(batch_.data_waits[0].samples, 32);
  EXPECT_EQ(batch_.data_waits[1].batch, -1);
  EXPECT_EQ(batch_.data_waits[1].samples, -1);
  ASSERT_EQ(batch_.step_marks.size(), 1U);
  EXPECT_EQ(batch_.step_marks[0].time, 50);
  EXPECT_EQ(batch_.step_marks[0].optimizer, 3);
  ASSERT_EQ(batch_.host_spans.size(), 1U);
  EXPECT_EQ(batch_.host_spans[0].dur, 10);
  EXPECT_EQ(batch_.host_spans[0].kind, 2);
  EXPECT_EQ(batch_.host_spans[0].detail, 1);
  EXPECT_EQ(batch_.threads.size(), 1U);
}

TEST_F(PythonTest, AttentionCallsOfOneShapeShareIt) {
  const std::int64_t one = ReportAttentionShape(1, 4, 8, 2, 128, 256, 64, 32, 14, 1);
  const std::int64_t same = ReportAttentionShape(1, 4, 8, 2, 128, 256, 64, 32, 14, 1);
  const std::int64_t other = ReportAttentionShape(2, -1, 8, 2, -1, -1, 64, 64, 14, 0);
  ReportAttention(kBase + 10, kBase + 30, one, 1, 1);
  ReportAttention(kBase + 50, kBase + 45, same, 2, 1);
  ReportAttention(kBase + 60, kBase + 61, other, 1, -1);
  Drain();
  ASSERT_EQ(batch_.attention_shapes.size(), 2U);
  const AttentionShapeRow& shape = batch_.attention_shapes[0];
  EXPECT_EQ(shape.id, 1U);
  EXPECT_EQ(shape.library, 1);
  EXPECT_EQ(shape.batch, 4);
  EXPECT_EQ(shape.heads, 8);
  EXPECT_EQ(shape.kv_heads, 2);
  EXPECT_EQ(shape.query_length, 128);
  EXPECT_EQ(shape.key_length, 256);
  EXPECT_EQ(shape.head_size, 64);
  EXPECT_EQ(shape.value_head_size, 32);
  EXPECT_EQ(shape.type, 14);
  EXPECT_EQ(shape.causal, 1);
  ASSERT_EQ(batch_.attentions.size(), 3U);
  EXPECT_EQ(batch_.attentions[0].start, 10);
  EXPECT_EQ(batch_.attentions[0].dur, 20);
  EXPECT_EQ(batch_.attentions[0].shape, 1U);
  EXPECT_EQ(batch_.attentions[1].shape, 1U);
  EXPECT_EQ(batch_.attentions[1].dur, 0) << "the clock was set back";
  EXPECT_EQ(batch_.attentions[1].direction, 2);
  EXPECT_EQ(batch_.attentions[2].shape, 2U);
  EXPECT_EQ(batch_.attentions[2].gradient, -1);
}

TEST_F(PythonTest, AnAttentionCallWithoutItsShapeIsLostAndCounted) {
  const std::int64_t dropped = g_counters.Get(Health::kAttentionDropped);
  ReportAttention(kBase + 10, kBase + 30, AttentionShapes::kMax, 1, 1);
  Drain();
  EXPECT_TRUE(batch_.attentions.empty());
  EXPECT_EQ(g_counters.Get(Health::kAttentionDropped), dropped + 1);
}

TEST_F(PythonTest, AllocatorSamplesBecomeRows) {
  ReportAllocator(kBase + 7, 1, 10, 20, 15, 30, 40, 2, 1);
  Drain();
  ASSERT_EQ(batch_.allocator_samples.size(), 1U);
  const AllocatorSampleRow& row = batch_.allocator_samples[0];
  EXPECT_EQ(row.time, 7);
  EXPECT_EQ(row.device, 1);
  EXPECT_EQ(row.allocated_bytes, 10);
  EXPECT_EQ(row.reserved_bytes, 20);
  EXPECT_EQ(row.active_bytes, 15);
  EXPECT_EQ(row.peak_allocated_bytes, 30);
  EXPECT_EQ(row.peak_reserved_bytes, 40);
  EXPECT_EQ(row.retries, 2);
  EXPECT_EQ(row.ooms, 1);
}

TEST_F(PythonTest, ALoaderToldAgainIsOneRow) {
  for (int pass = 0; pass < 3; ++pass) {
    ReportLoader(7, 0, 0, 0, -1, 1);
    ReportLoader(9, 2, 0, 0, 2, 1);
    ReportDataWait(kBase, kBase + 1, 9, 0, -1);
  }
  Drain();
  EXPECT_EQ(batch_.data_loaders.size(), 2U);
  ASSERT_EQ(batch_.data_waits.size(), 3U);
  EXPECT_EQ(batch_.data_waits[2].loader, 2U);
}

TEST_F(PythonTest, AWaitOfALoaderThatWasNeverToldHasNone) {
  ReportDataWait(kBase, kBase + 1, 8, 0, -1);
  Drain();
  ASSERT_EQ(batch_.data_waits.size(), 1U);
  EXPECT_EQ(batch_.data_waits[0].loader, 0U);
}

TEST_F(PythonTest, AClockSetBackGivesNoNegativeDuration) {
  ReportSpan(kBase + 10, kBase + 5, 1, -1);
  Drain();
  ASSERT_EQ(batch_.host_spans.size(), 1U);
  EXPECT_EQ(batch_.host_spans[0].dur, 0);
}

TEST_F(PythonTest, NothingIsReportedUnlessARecordingRuns) {
  const std::int64_t seen = g_counters.Get(Health::kStepMarkSeen);
  for (const State state : {State::kArmed, State::kFailed, State::kDone, State::kDead}) {
    g_state.store(state);
    ReportLoader(1, 0, 0, 0, -1, 1);
    ReportDataWait(kBase, kBase + 1, 1, 0, -1);
    EXPECT_EQ(ReportAttentionShape(1, 1, 1, 1, 1, 1, 1, 1, 1, 1), 0);
    ReportAttention(kBase, kBase + 1, 1, 1, 1);
    ReportAllocator(kBase, 0, 1, 2, 3, 4, 5, 6, 7);
    ReportStep(kBase, 1);
    ReportSpan(kBase, kBase + 1, 1, -1);
  }
  Drain();
  EXPECT_EQ(batch_.data_waits.size() + batch_.step_marks.size() + batch_.host_spans.size() +
                batch_.attentions.size() + batch_.allocator_samples.size(),
            0U);
  EXPECT_EQ(g_counters.Get(Health::kStepMarkSeen), seen);
}

TEST_F(PythonTest, AFullRingDropsAndCounts) {
  const std::int64_t seen = g_counters.Get(Health::kStepMarkSeen);
  const std::int64_t dropped = g_counters.Get(Health::kStepMarkDropped);
  constexpr int kMany = 2 * Ring::kBytes / offsetof(PythonEvent, values);
  std::thread([&] {
    for (int i = 0; i < kMany; ++i) ReportStep(kBase + i, 1);
  }).join();
  Drain();
  EXPECT_EQ(g_counters.Get(Health::kStepMarkSeen) - seen, kMany);
  EXPECT_GT(g_counters.Get(Health::kStepMarkDropped), dropped);
  EXPECT_EQ(static_cast<std::int64_t>(batch_.step_marks.size()),
            kMany - (g_counters.Get(Health::kStepMarkDropped) - dropped));
}

}  // namespace
}  // namespace traceinject
