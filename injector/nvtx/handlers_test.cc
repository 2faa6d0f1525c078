// SPDX-License-Identifier: Apache-2.0
// From NVTX calls, made as programs make them, to rows.
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "injector/base/counters.h"
#include "injector/base/ring.h"
#include "injector/base/sources.h"
#include "injector/base/state.h"
#include "injector/nccl/decoder.h"
#include "injector/nvtx/decoder.h"

extern "C" {
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table);
int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module);
}

namespace traceinject {
namespace {

class NvtxTest : public testing::Test {
 protected:
  // By these the NVTX of this program finds the library that it is linked with.
  static void SetUpTestSuite() {
    InitializeInjectionNvtx2_fnptr = InitializeInjectionNvtx2;
    InitializeInjectionNvtxExtension_fnptr = InitializeInjectionNvtxExtension;
  }
  void SetUp() override {
    g_state = State::kRunning;
    g_sources = ~0u;
    Drain();
    batch_.nvtx.clear();
  }
  void TearDown() override { g_state = State::kDone; }

  void Drain() {
    g_rings.DrainAll(
        [this](int slot, int tid, const EventHeader& event) {
          decoder_.Decode(slot, tid, reinterpret_cast<const NvtxEvent&>(event));
        },
        [this](int slot) { decoder_.ForgetThread(slot); });
  }

  std::string Text(const NvtxRow& row) const {
    for (const StringRow& string : batch_.strings) {
      if (string.id == row.text) return string.text;
    }
    return {};
  }

  // Texts of the ranges, by their state.
  std::vector<std::string> Texts(bool open) const {
    std::vector<std::string> texts;
    for (const NvtxRow& row : batch_.nvtx) {
      if ((row.dur < 0) == open) texts.push_back(Text(row));
    }
    return texts;
  }

  Batch batch_;
  Dictionary dictionary_{&batch_};
  NcclDecoder nccl_{0, &dictionary_, &batch_};
  NvtxDecoder decoder_{0, &dictionary_, &batch_, &nccl_};
};

using Strings = std::vector<std::string>;

TEST_F(NvtxTest, ARangeOverWhichTheClockWasSetBackHasEndedAndHasNoLength) {
  NvtxEvent event{};
  event.header.type = static_cast<std::uint16_t>(EventType::kNvtxPush);
  event.header.time_ns = 5000;
  decoder_.Decode(0, 100, event);
  event.header.type = static_cast<std::uint16_t>(EventType::kNvtxPop);
  event.header.time_ns = 4999;
  decoder_.Decode(0, 100, event);
  ASSERT_EQ(batch_.nvtx.size(), 1U);
  EXPECT_EQ(batch_.nvtx[0].dur, 0) << "-1 says that it is open";
}

TEST_F(NvtxTest, NullsAreNoText) {
  nvtxMarkA(nullptr);
  nvtxMarkW(nullptr);
  nvtxMarkEx(nullptr);
  nvtxRangePushA(nullptr);
  nvtxRangePop();
  nvtxRangeEnd(nvtxDomainRangeStartEx(nullptr, nullptr));
  nvtxNameCategoryA(1, nullptr);
  nvtxNameOsThreadA(static_cast<std::uint32_t>(getpid()), nullptr);
  nvtxDomainHandle_t domain = nvtxDomainCreateA(nullptr);
  nvtxDomainRegisterStringA(domain, nullptr);
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  for (int type :
       {NVTX_MESSAGE_TYPE_ASCII, NVTX_MESSAGE_TYPE_UNICODE, NVTX_MESSAGE_TYPE_REGISTERED}) {
    event.messageType = type;
    nvtxDomainMarkEx(domain, &event);
  }
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;
  nvtxDomainMarkEx(domain, &event);
  Drain();
  EXPECT_EQ(batch_.nvtx.size(), 9U);
}

TEST_F(NvtxTest, PayloadOfUnknownSizeIsNotRead) {
  // The last byte of readable memory.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(static_cast<char*>(memory) + page, page, PROT_NONE), 0);
  const nvtxPayloadData_t payload{1, SIZE_MAX, static_cast<char*>(memory) + page - 1};
  nvtxDomainHandle_t domain = nvtxDomainCreateA("sizes");
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;
  event.payload.ullValue = reinterpret_cast<std::uint64_t>(&payload);
  const std::int64_t clipped = g_counters.Get(Health::kNvtxClipped);
  nvtxDomainMarkEx(domain, &event);
  Drain();
  ASSERT_EQ(batch_.nvtx.size(), 1U);
  EXPECT_EQ(batch_.nvtx[0].payload_type, NvtxRow::Payload::kNothing);
  EXPECT_EQ(g_counters.Get(Health::kNvtxClipped), clipped + 1);
  munmap(memory, 2 * page);
}

TEST_F(NvtxTest, LongTextIsClippedBetweenCharacters) {
  const std::string euro = "\xE2\x82\xAC";
  std::string text;
  while (text.size() < 2 * kMaxNvtxText) text += euro;
  nvtxMarkA(text.c_str());
  nvtxMarkA(std::string(2 * kMaxNvtxText, '\xBF').c_str());  // not UTF-8
  Drain();
  ASSERT_EQ(batch_.nvtx.size(), 2U);
  EXPECT_EQ(Text(batch_.nvtx[0]), text.substr(0, kMaxNvtxText / 3 * 3));
  EXPECT_GT(Text(batch_.nvtx[1]).size(), kMaxNvtxText - 8);
}

// Once events were dropped, a pop must not end the range of another push.
TEST_F(NvtxTest, RangesAroundDroppedEventsStayOpen) {
  nvtxRangePushA("outer");
  const std::int64_t dropped = g_counters.Get(Health::kNvtxDropped);
  while (g_counters.Get(Health::kNvtxDropped) == dropped) nvtxMarkA("filling");
  nvtxRangePushA("lost");
  Drain();
  nvtxRangePop();  // of "lost"
  nvtxRangePushA("inner");
  nvtxRangePop();
  nvtxRangePop();  // of "outer", which we no longer know
  Drain();
  std::erase_if(batch_.nvtx, [this](const NvtxRow& row) { return Text(row) == "filling"; });
  EXPECT_EQ(Texts(false), Strings({"inner"}));
  EXPECT_EQ(Texts(true), Strings({"outer"}));

  batch_.nvtx.clear();
  nvtxRangePushA("outer");
  nvtxRangePushA("loses its end");
  const std::int64_t before = g_counters.Get(Health::kNvtxDropped);
  while (g_counters.Get(Health::kNvtxDropped) == before) nvtxMarkA("filling");
  nvtxRangePop();  // dropped
  Drain();
  nvtxRangePop();  // of "outer"
  Drain();
  std::erase_if(batch_.nvtx, [this](const NvtxRow& row) { return Text(row) == "filling"; });
  EXPECT_EQ(Texts(false), Strings({}));
  EXPECT_EQ(Texts(true), Strings({"outer", "loses its end"}));
}

// A program that never ends what it begins would take ever more memory, and time at each flush.
TEST_F(NvtxTest, TheOldestOfVeryManyOpenRangesStayOpen) {
  constexpr int kMany = 40'000, kKept = 16'384;
  for (const bool push : {true, false}) {
    batch_.nvtx.clear();
    nvtxRangeId_t last = 0;
    for (int i = 0; i < kMany; ++i) {
      const std::string text = std::to_string(i);
      if (push) {
        nvtxRangePushA(text.c_str());
      } else {
        last = nvtxRangeStartA(text.c_str());
      }
      if (i % 1000 == 999) Drain();
    }
    const std::vector<std::string> open = Texts(true);
    ASSERT_EQ(open.size(), kMany - kKept);
    EXPECT_EQ(open.front(), "0");
    EXPECT_EQ(open.back(), std::to_string(kMany - kKept - 1));
    if (push) {
      nvtxRangePop();
    } else {
      nvtxRangeEnd(last);
    }
    Drain();
    EXPECT_EQ(Texts(false), Strings({std::to_string(kMany - 1)}));
  }
}

TEST_F(NvtxTest, OperationsThatNeverEndTakeBoundedMemory) {
  NcclOperation operation;
  operation.function = "AllReduce";
  for (int i = 0; i < 1000; ++i) nccl_.Begin(0, 1, i, operation);
  EXPECT_EQ(batch_.collectives.size(), 1000U - 64);
  EXPECT_EQ(batch_.collectives.front().dur, -1);
}

// A flush may fall into an operation: it is then stored as an open range, which must not stay open.
TEST_F(NvtxTest, OperationThatIsOpenAtAFlushIsClosed) {
  const struct {
    std::uint64_t communicator;
    std::size_t bytes;
  } fields{77, 4096};
  const nvtxPayloadData_t payload{(1 << 24) + 4, sizeof fields, &fields};  // AllGather
  nvtxDomainHandle_t nccl = nvtxDomainCreateA("NCCL");
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "ncclAllGather";
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;
  event.payload.ullValue = reinterpret_cast<std::uint64_t>(&payload);

  nvtxDomainRangePushEx(nccl, &event);
  nvtxDomainRangePop(nccl);
  Drain();
  decoder_.StoreOpenRanges();
  EXPECT_EQ(batch_.collectives.size(), 1U);
  EXPECT_EQ(batch_.nvtx.size(), 0U);

  nvtxDomainRangePushEx(nccl, &event);
  Drain();
  decoder_.StoreOpenRanges();
  nvtxDomainRangePop(nccl);
  Drain();
  EXPECT_EQ(batch_.collectives.size(), 2U);
  ASSERT_EQ(batch_.nvtx.size(), 2U);
  EXPECT_LT(batch_.nvtx[0].dur, 0);
  EXPECT_GE(batch_.nvtx[1].dur, 0);
  EXPECT_NE(batch_.nvtx[0].row, 0U);
  EXPECT_EQ(batch_.nvtx[1].row, batch_.nvtx[0].row);
}

}  // namespace
}  // namespace traceinject
