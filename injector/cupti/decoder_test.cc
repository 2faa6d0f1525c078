// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/decoder.h"

#include <gtest/gtest.h>

#include <vector>

#include "injector/core/counters.h"
#include "injector/cupti/allow_list.h"

namespace traceinject {
namespace {

// A buffer with records of known sizes, and a stand-in for cuptiActivityGetNextRecord that walks
// it.
std::vector<std::size_t> g_sizes;
CUptiResult CUPTIAPI NextRecord(std::uint8_t* buffer, std::size_t valid_bytes,
                                CUpti_Activity** record) {
  std::size_t offset = 0, index = 0;
  if (*record != nullptr) {
    const auto at = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer);
    while (offset <= at) offset += g_sizes[index++];
  }
  if (offset >= valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + offset);
  return CUPTI_SUCCESS;
}

class DecoderTest : public ::testing::Test {
 protected:
  DecoderTest() {
    cupti_.ActivityGetNextRecord = NextRecord;
    g_sizes.clear();
  }
  template <typename Record>
  void Add(const Record& record, std::size_t extra = 0) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&record);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof record);
    bytes_.insert(bytes_.end(), extra, 0xEE);  // a tail field of a newer version
    g_sizes.push_back(sizeof record + extra);
  }
  void AddCall(CUpti_ActivityKind kind, std::uint32_t cbid, std::uint32_t correlation,
               std::uint64_t start, std::uint64_t end) {
    ApiRecord record{};
    record.kind = kind;
    record.cbid = cbid;
    record.start = start;
    record.end = end;
    record.threadId = 42;
    record.correlationId = correlation;
    Add(record);
  }
  int Decode() {
    const int work = decoder_.Decode({bytes_.data(), bytes_.size()});
    bytes_.clear();
    g_sizes.clear();
    return work;
  }

  CuptiLibrary cupti_;
  Batch batch_;
  Dictionary dictionary_{&batch_};
  ActivityDecoder decoder_{&cupti_, 1000, &dictionary_, &batch_};
  std::vector<std::uint8_t> bytes_;
};

TEST_F(DecoderTest, KernelsOfLongerRecords) {
  KernelRecord kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.start = 5000, kernel.end = 7500;
  kernel.deviceId = 1, kernel.contextId = 2, kernel.streamId = 7;
  kernel.gridX = 10, kernel.gridY = 1, kernel.gridZ = 1, kernel.blockX = 256, kernel.blockY = 1,
  kernel.blockZ = 1;
  kernel.correlationId = 99;
  kernel.name = "gemm";
  Add(kernel, 8);
  Add(kernel, 8);
  EXPECT_EQ(Decode(), 2);
  ASSERT_EQ(batch_.kernels.size(), 2U);
  EXPECT_EQ(batch_.kernels[0].start, 4000);
  EXPECT_EQ(batch_.kernels[0].dur, 2500);
  EXPECT_EQ(batch_.kernels[0].correlation, 99U);
  EXPECT_EQ(batch_.shapes.size(), 1U) << "one shape for both";
  EXPECT_EQ(batch_.streams.size(), 1U);
  EXPECT_EQ(batch_.streams[0].stream_id, 7U);
}

TEST_F(DecoderTest, KernelsWithoutTimesAreDroppedAndReversedOnesRepaired) {
  const std::int64_t dropped = g_counters.Get(Health::kKernelDropped),
                     repaired = g_counters.Get(Health::kKernelRepaired);
  KernelRecord kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.name = "k";
  Add(kernel);
  kernel.start = 9000, kernel.end = 8000;
  Add(kernel);
  Decode();
  ASSERT_EQ(batch_.kernels.size(), 1U);
  EXPECT_EQ(batch_.kernels[0].dur, 0);
  EXPECT_EQ(g_counters.Get(Health::kKernelDropped), dropped + 1);
  EXPECT_EQ(g_counters.Get(Health::kKernelRepaired), repaired + 1);
}

TEST_F(DecoderTest, ADriverCallInsideARuntimeCallIsLeftOut) {
  AddCall(CUPTI_ACTIVITY_KIND_DRIVER, 277, 5, 2100, 2200);
  AddCall(CUPTI_ACTIVITY_KIND_RUNTIME, 41, 5, 2000, 2300);
  AddCall(CUPTI_ACTIVITY_KIND_DRIVER, 652, 6, 3000, 3100);  // launched directly
  Decode();
  decoder_.EndFlush(true);
  ASSERT_EQ(batch_.apis.size(), 2U);
  EXPECT_EQ(batch_.apis[0].correlation, 5U);
  EXPECT_EQ(batch_.apis[0].dur, 300);
  EXPECT_EQ(batch_.apis[1].correlation, 6U);
}

TEST_F(DecoderTest, TheNestedCallMayComeInALaterBufferOrFlush) {
  AddCall(CUPTI_ACTIVITY_KIND_RUNTIME, 41, 5, 2000, 2300);
  AddCall(CUPTI_ACTIVITY_KIND_DRIVER, 277, 8, 2600, 2700);
  Decode();
  decoder_.EndFlush(false);
  AddCall(CUPTI_ACTIVITY_KIND_DRIVER, 277, 5, 2100, 2200);
  AddCall(CUPTI_ACTIVITY_KIND_RUNTIME, 41, 8, 2500, 2800);
  Decode();
  decoder_.EndFlush(true);
  ASSERT_EQ(batch_.apis.size(), 2U);
  EXPECT_EQ(batch_.api_names.size(), 2U) << "names are interned when seen";
}

TEST_F(DecoderTest, CallsThatAreNotOnTheListAreNotStored) {
  AddCall(CUPTI_ACTIVITY_KIND_RUNTIME, 17, 5, 2000, 2300);  // cudaGetDevice
  Decode();
  decoder_.EndFlush(true);
  EXPECT_TRUE(batch_.apis.empty());
}

TEST(CorrelationWidenerTest, WrapsAndTakesStragglers) {
  CorrelationWidener widener;
  EXPECT_EQ(widener.Widen(10), 10U);
  EXPECT_EQ(widener.Widen(0x7FFFFFF0), 0x7FFFFFF0U);
  EXPECT_EQ(widener.Widen(0xFFFFFFE0), 0xFFFFFFE0U);
  EXPECT_EQ(widener.Widen(5), 0x100000005U);
  EXPECT_EQ(widener.Widen(0xFFFFFFF5), 0xFFFFFFF5U)
      << "a record from before the wrap, delivered late";
  EXPECT_EQ(widener.Widen(6), 0x100000006U);
}

TEST(AllowListTest, HasNoDoubles) {
  for (const AllowedCall& call : kAllowList)
    EXPECT_EQ(FindAllowedCall(call.domain, call.cbid), &call) << call.name;
}

}  // namespace
}  // namespace traceinject
