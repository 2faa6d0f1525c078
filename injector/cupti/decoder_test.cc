// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/decoder.h"

#include <gtest/gtest.h>

#include <vector>

#include "injector/base/counters.h"
#include "injector/cupti/allow_list.h"
#include "injector/cupti/errors.h"

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
    cupti_.ActivityEnableRuntimeApi = cupti_.ActivityEnableDriverApi =
        [](CUpti_CallbackId, std::uint8_t) { return CUPTI_SUCCESS; };
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
  void AddKernel(std::uint32_t correlation, std::uint64_t start) {
    KernelRecord kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.name = "gemm";
    kernel.correlationId = correlation;
    kernel.start = start;
    kernel.end = start + 10;
    Add(kernel);
  }
  int Decode(bool copied = false) {
    const int work = decoder_.Decode({bytes_.data(), bytes_.size(), copied});
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

TEST_F(DecoderTest, CallsBetweenWindowsAreLeftOut) {
  constexpr auto kCalls = CUPTI_ACTIVITY_KIND_RUNTIME;
  constexpr std::uint32_t kSynchronize = 165;
  decoder_.BeginGap(2000, 2000);
  decoder_.EndGap(4000, 0);
  decoder_.BeginGap(6000, 6000);
  std::uint32_t correlation = 0;
  for (const std::uint64_t start : {1000, 2000, 3999, 4000, 5999, 6000})
    AddCall(kCalls, kSynchronize, ++correlation, start + 1000, start + 4000);
  Decode();
  ASSERT_EQ(batch_.apis.size(), 3u);
  EXPECT_EQ(batch_.apis[0].start, 1000);
  EXPECT_EQ(batch_.apis[1].start, 4000);
  EXPECT_EQ(batch_.apis[2].start, 5999);
}

TEST_F(DecoderTest, OfAnotherClientsBufferNothingFromBetweenWindowsIsTaken) {
  decoder_.BeginGap(4000, 4000);
  MemcpyRecord copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  MemsetRecord set{};
  set.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  MemoryRecord memory{};
  memory.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  std::uint32_t correlation = 0;
  for (const std::uint64_t start : {4999, 5000}) {
    copy.correlationId = set.correlationId = ++correlation;
    copy.start = set.start = memory.timestamp = start;
    copy.end = set.end = start + 10;
    AddKernel(correlation, start);
    Add(copy);
    Add(set);
    Add(memory);
    AddCall(CUPTI_ACTIVITY_KIND_RUNTIME, 165, correlation, start, start + 10);
  }
  const std::int64_t before = g_counters.Get(Health::kKernelSeen);
  Decode(true);
  ASSERT_EQ(batch_.kernels.size(), 1u);
  EXPECT_EQ(batch_.kernels[0].start, 3999);
  EXPECT_EQ(batch_.memcpys.size(), 1u);
  EXPECT_EQ(batch_.memsets.size(), 1u);
  EXPECT_EQ(batch_.memory_operations.size(), 1u);
  EXPECT_EQ(batch_.apis.size(), 1u);
  EXPECT_EQ(g_counters.Get(Health::kKernelSeen), before + 1);
}

// What is launched at 5, 15, and 25 runs at 12, 22, and 32, with a gap from 10 to 20.
TEST_F(DecoderTest, OfAnotherClientsBufferWorkIsOfTheTimeThatItWasLaunchedIn) {
  decoder_.BeginGap(10'000, 10'000);
  decoder_.EndGap(20'000, 0);
  for (const std::uint32_t launch : {1, 2, 3}) {
    const std::uint64_t launched = launch * 10'000 - 4'000;
    AddKernel(launch, launched + 7'000);
    AddCall(CUPTI_ACTIVITY_KIND_RUNTIME, 211, launch, launched, launched + 10);
  }
  Decode(true);
  ASSERT_EQ(batch_.apis.size(), 2u);
  ASSERT_EQ(batch_.kernels.size(), 2u);
  EXPECT_EQ(batch_.kernels[0].correlation, 1u);
  EXPECT_EQ(batch_.kernels[1].correlation, 3u);
}

// Calls of before a window come back in buffers of which nothing is ours; their work, in it.
TEST_F(DecoderTest, WorkThatWasLaunchedBeforeAWindowIsLeftOutWhereItsCallIsNotTold) {
  decoder_.BeginGap(10'000, 10'000);
  decoder_.EndGap(20'000, 7);
  for (const std::uint32_t launch : {7, 8}) AddKernel(launch, 22'000);
  Decode(true);
  ASSERT_EQ(batch_.kernels.size(), 1u);
  EXPECT_EQ(batch_.kernels[0].correlation, 8u);
}

// The second call was not told: the thread was in it while calls were turned off, one by one.
TEST_F(DecoderTest, WorkOfAMomentInWhichSomeCallsAreOffAlready) {
  const auto add = [&] {
    for (const std::uint32_t launch : {1, 2, 3}) AddKernel(launch, 16'000 + launch * 1000);
    AddCall(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 1, 10'500, 10'510);
    AddCall(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 3, 12'000, 12'010);
  };
  decoder_.BeginGap(10'000, 15'000);
  add();
  Decode(true);
  ASSERT_EQ(batch_.kernels.size(), 1U) << "in another client's buffer";
  EXPECT_EQ(batch_.kernels[0].correlation, 1U);
  ASSERT_EQ(batch_.apis.size(), 1U);
  EXPECT_EQ(batch_.apis[0].correlation, 1U);
  add();
  Decode(false);
  EXPECT_EQ(batch_.kernels.size(), 4U);
  EXPECT_EQ(batch_.apis.size(), 3U);
}

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

TEST_F(DecoderTest, ARecordThatIsCutOffIsNotRead) {
  KernelRecord kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.start = 5000, kernel.end = 7500;
  kernel.name = "gemm";
  const std::int64_t before = g_counters.Get(Health::kBuffersDamaged);
  Add(kernel);
  Add(kernel);
  bytes_.resize(bytes_.size() - 1);
  EXPECT_EQ(Decode(), 1);
  EXPECT_EQ(batch_.kernels.size(), 1U);
  EXPECT_EQ(g_counters.Get(Health::kBuffersDamaged), before + 1);
  // Of a longer version of the record nothing is missing that is read.
  Add(kernel, 8);
  bytes_.resize(bytes_.size() - 8);
  EXPECT_EQ(Decode(), 1);
  EXPECT_EQ(g_counters.Get(Health::kBuffersDamaged), before + 1);
}

TEST_F(DecoderTest, AWalkThatCuptiDoesNotContinueEnds) {
  cupti_.ActivityGetNextRecord = [](std::uint8_t* buffer, std::size_t, CUpti_Activity** record) {
    *record = reinterpret_cast<CUpti_Activity*>(buffer);
    return CUPTI_SUCCESS;
  };
  KernelRecord kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.start = 5000, kernel.end = 7500;
  kernel.name = "gemm";
  const std::int64_t before = g_counters.Get(Health::kBuffersDamaged);
  Add(kernel);
  EXPECT_EQ(Decode(), 1) << "the same record for ever";
  EXPECT_EQ(g_counters.Get(Health::kBuffersDamaged), before + 1);

  cupti_.ActivityGetNextRecord = [](std::uint8_t*, std::size_t, CUpti_Activity**) {
    return CUPTI_ERROR_UNKNOWN;
  };
  Add(kernel);
  EXPECT_EQ(Decode(), 0);
  EXPECT_EQ(g_counters.Get(Health::kBuffersDamaged), before + 2);
  EXPECT_EQ(g_counters.Get(Health::kCuptiErrors), 1);
  EXPECT_STREQ(FirstCuptiError().function, "cuptiActivityGetNextRecord");
  EXPECT_EQ(FirstCuptiError().result, CUPTI_ERROR_UNKNOWN);
}

TEST_F(DecoderTest, MemoryOperationsOfLongerRecords) {
  MemoryRecord memory{};
  memory.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  memory.address = 0xF000'0000'0000'0000, memory.bytes = 4096, memory.timestamp = 6000;
  memory.deviceId = 1, memory.contextId = 2, memory.streamId = CUPTI_INVALID_STREAM_ID;
  memory.correlationId = 5;
  Add(memory, 8);
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  memory.streamId = 9, memory.isAsync = 1;
  memory.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  Add(memory, 8);
  const std::int64_t dropped = g_counters.Get(Health::kMemoryDropped);
  memory.timestamp = 0;
  Add(memory, 8);
  EXPECT_EQ(Decode(), 0) << "no work of the GPU";
  ASSERT_EQ(batch_.memory_operations.size(), 2U);
  EXPECT_EQ(g_counters.Get(Health::kMemoryDropped), dropped + 1);
  const MemoryOperationRow& taken = batch_.memory_operations[0];
  EXPECT_EQ(taken.time, 5000);
  EXPECT_EQ(taken.device, 1U);
  EXPECT_EQ(taken.kind, 1);
  EXPECT_EQ(taken.memory_kind, 3U);
  EXPECT_EQ(taken.bytes, 4096);
  EXPECT_EQ(taken.address, 0xF000'0000'0000'0000U);
  EXPECT_EQ(taken.stream, 0U);
  EXPECT_FALSE(taken.pool);
  EXPECT_EQ(taken.correlation, 5U);
  const MemoryOperationRow& returned = batch_.memory_operations[1];
  EXPECT_EQ(returned.kind, 2);
  EXPECT_TRUE(returned.pool);
  ASSERT_EQ(batch_.streams.size(), 1U);
  EXPECT_EQ(returned.stream, batch_.streams[0].id);
  EXPECT_EQ(batch_.streams[0].stream_id, 9U);
}

TEST_F(DecoderTest, StreamsAreDescribedBeforeAndAfterTheirFirstUse) {
  const auto describe = [&](std::uint32_t stream, int priority) {
    StreamRecord record{};
    record.kind = CUPTI_ACTIVITY_KIND_STREAM;
    record.contextId = 2, record.streamId = stream;
    record.priority = static_cast<std::uint32_t>(priority);
    record.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
    Add(record);
  };
  const auto use = [&](std::uint32_t stream) {
    KernelRecord kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.start = 5000, kernel.end = 7500, kernel.contextId = 2, kernel.streamId = stream;
    kernel.name = "gemm";
    Add(kernel);
  };
  describe(13, -5);
  describe(14, -3);  // never used
  use(13);
  use(15);
  describe(15, 0);
  Decode();
  dictionary_.NameStream(2, 13, "copies");
  ASSERT_EQ(batch_.streams.size(), 4U) << "13, 15, 15 described, 13 named";
  EXPECT_TRUE(batch_.streams[0].has_priority);
  EXPECT_EQ(batch_.streams[0].priority, -5);
  EXPECT_EQ(batch_.streams[0].flags, 2U);
  EXPECT_EQ(batch_.streams[0].name, 0U);
  EXPECT_FALSE(batch_.streams[1].has_priority);
  EXPECT_EQ(batch_.streams[2].id, batch_.streams[1].id);
  EXPECT_TRUE(batch_.streams[2].has_priority);
  EXPECT_EQ(batch_.streams[2].priority, 0);
  EXPECT_EQ(batch_.streams[3].id, batch_.streams[0].id);
  EXPECT_EQ(batch_.streams[3].priority, -5);
  EXPECT_NE(batch_.streams[3].name, 0U);
}

TEST_F(DecoderTest, TimesThatCannotBeAreDropped) {
  const std::int64_t dropped = g_counters.Get(Health::kKernelDropped);
  KernelRecord kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.name = "gemm";
  kernel.start = std::uint64_t{1} << 63, kernel.end = 7500;  // as far apart as 64 bits go
  Add(kernel);
  kernel.start = 5000, kernel.end = std::uint64_t{1} << 62;
  Add(kernel);
  Decode();
  EXPECT_TRUE(batch_.kernels.empty());
  EXPECT_EQ(g_counters.Get(Health::kKernelDropped), dropped + 2);
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

TEST_F(DecoderTest, ALaunchWaitsForNothing) {
  AddCall(CUPTI_ACTIVITY_KIND_DRIVER, 307, 5, 2000, 2300);
  AddCall(CUPTI_ACTIVITY_KIND_DRIVER, 277, 6, 2400, 2500);  // perhaps inside a cudaMemcpyAsync
  Decode();
  ASSERT_EQ(batch_.apis.size(), 1U) << "else a kernel is stored before its call";
  EXPECT_EQ(batch_.apis[0].correlation, 5U);
}

TEST_F(DecoderTest, WhereCallsCannotBeSelectedALaunchIsStoredOnce) {
  cupti_.ActivityEnableRuntimeApi = nullptr;
  AddCall(CUPTI_ACTIVITY_KIND_DRIVER, 307, 5, 2000, 2300);
  AddCall(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 5, 1900, 2400);
  AddCall(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 6, 2500, 2600);
  Decode();
  decoder_.EndFlush(true);
  ASSERT_EQ(batch_.apis.size(), 2U);
  EXPECT_EQ(batch_.apis[0].dur, 500);
  EXPECT_EQ(batch_.apis[1].correlation, 6U);
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

TEST(CorrelationWidenerTest, AnIdThatComesAgainIsAnotherOne) {
  CorrelationWidener widener;
  EXPECT_EQ(widener.Widen(7), 7U);
  widener.Restart();
  EXPECT_EQ(widener.Widen(7), 0x100000007U);
  widener.Restart();
  EXPECT_EQ(widener.Widen(3'000'000'000), 3'000'000'000U + 0x100000000U)
      << "where ids go on instead, above half the range";
}

TEST(AllowListTest, HasNoDoubles) {
  for (const AllowedCall& call : kAllowList)
    EXPECT_EQ(FindAllowedCall(call.domain, call.cbid), &call) << call.name;
}

}  // namespace
}  // namespace traceinject
