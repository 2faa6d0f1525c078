// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/buffer_sharing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "injector/base/counters.h"
#include "injector/cupti/record_copies.h"
#include "tests/faults/guarded_memory.h"

namespace traceinject {
namespace {

constexpr auto kRuntime = CUPTI_ACTIVITY_KIND_RUNTIME;
constexpr auto kDriver = CUPTI_ACTIVITY_KIND_DRIVER;
constexpr std::uint32_t kLaunchKernel = 211, kGetDevice = 17, kMemcpyAsync = 41;
constexpr std::uint32_t kDriversLaunch = 652, kDriversGetDevice = 3;

// Of a CUPTI that is newer than our header.
constexpr auto kNewKind = static_cast<CUpti_ActivityKind>(CUPTI_ACTIVITY_KIND_COUNT + 2);
constexpr auto kUnheardOf = static_cast<CUpti_ActivityKind>(100'000);
constexpr std::size_t kNewBytes = 24;

// Every record is a call's, of a new kind, or not completed.
CUptiResult CUPTIAPI GetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes,
                                   CUpti_Activity** record) {
  std::uint8_t* next = buffer;
  if (*record != nullptr) {
    const bool is_call = WantedRecords::IsCalls((*record)->kind);
    next = reinterpret_cast<std::uint8_t*>(*record) + (is_call ? sizeof(ApiRecord) : kNewBytes);
  }
  if (next >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto* found = reinterpret_cast<CUpti_Activity*>(next);
  if (found->kind == CUPTI_ACTIVITY_KIND_INVALID) return CUPTI_ERROR_INVALID_KIND;
  *record = found;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI Switch(CUpti_ActivityKind) { return CUPTI_SUCCESS; }
CUptiResult CUPTIAPI SwitchCall(CUpti_CallbackId, std::uint8_t) { return CUPTI_SUCCESS; }
CUptiResult CUPTIAPI Register(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc) {
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI FlushAll(std::uint32_t) { return CUPTI_SUCCESS; }

class BufferSharing : public ::testing::Test {
 protected:
  BufferSharing() {
    library_.ActivityGetNextRecord = GetNextRecord;
    library_.ActivityEnable = library_.ActivityDisable = Switch;
    library_.ActivityEnableRuntimeApi = library_.ActivityEnableDriverApi = SwitchCall;
    library_.ActivityRegisterCallbacks = Register;
    library_.ActivityFlushAll = FlushAll;
    session_.Attach(&library_, nullptr, nullptr);
    session_.Register([](std::uint8_t**, std::size_t*, std::size_t*) {},
                      [](CUcontext, std::uint32_t, std::uint8_t*, std::size_t, std::size_t) {});
    session_.SetKind(SharedSession::kTheirs, kRuntime, true);
    session_.SetKind(SharedSession::kTheirs, kDriver, true);
    session_.SetCall(SharedSession::kTheirs, CudaDomain::kRuntime, kGetDevice, false);
  }

  void Call(CUpti_ActivityKind kind, std::uint32_t cbid, std::uint32_t correlation) {
    ApiRecord record{};
    record.kind = kind;
    record.cbid = cbid;
    record.correlationId = correlation;
    record.threadId = 1;
    records_.push_back(record);
  }
  void WeWantLaunches() {
    for (const std::uint32_t cbid : {kLaunchCall, kDriversLaunch})
      session_.SetCall(SharedSession::kOurs, CudaDomain::kDriver, cbid, true);
  }

  static std::string Text(const ApiRecord& record) {
    return std::to_string(record.cbid) + ":" + std::to_string(record.correlationId) + " ";
  }
  // What either side gets, as "callback id:correlation id ".
  void Expect(const std::string& ours, const std::string& theirs) {
    std::string copied, kept_records;
    auto* buffer = reinterpret_cast<std::uint8_t*>(records_.data());
    const std::size_t kept =
        traceinject::Divide(session_, buffer, records_.size() * sizeof(ApiRecord), 0,
                            [&](const CUpti_Activity* record, std::size_t bytes) {
                              EXPECT_EQ(bytes, sizeof(ApiRecord));
                              copied += Text(*reinterpret_cast<const ApiRecord*>(record));
                            });
    for (std::size_t i = 0; i < kept / sizeof(ApiRecord); ++i) kept_records += Text(records_[i]);
    EXPECT_EQ(copied, ours);
    EXPECT_EQ(kept_records, theirs);
  }

  CuptiLibrary library_;
  SharedSession session_;
  std::vector<ApiRecord> records_;
};

// Also where we have only the driver's on, as with TRACEINJECT_DETACH: that one does not come.
TEST_F(BufferSharing, EitherGetsWhatItWants) {
  WeWantLaunches();
  Call(kRuntime, kGetDevice, 1);
  Call(kDriver, kDriversLaunch, 2);
  Call(kRuntime, kMemcpyAsync, 3);
  Call(kDriver, kDriversGetDevice, 4);
  Expect("652:2 41:3 ", "652:2 41:3 3:4 ");
}

TEST_F(BufferSharing, TheRuntimesLaunchesAreOursWhereTheDriversDoNotCome) {
  WeWantLaunches();
  Call(kRuntime, kLaunchKernel, 1);
  Call(kRuntime, kLaunchKernel, 2);
  Expect("211:1 211:2 ", "211:1 211:2 ");
}

TEST_F(BufferSharing, OutsideOfAWindowNoLaunchIsOurs) {
  Call(kRuntime, kLaunchKernel, 1);
  Call(kDriver, kDriversLaunch, 2);
  Expect("", "211:1 652:2 ");
}

TEST_F(BufferSharing, TheLatestCallIsKnownAlsoIfItIsNobodys) {
  EXPECT_EQ(session_.latest_call(), 0u);
  for (const std::uint32_t correlation : {0xFFFFFFFEu, 3u, 0xFFFFFFFFu})
    Call(kDriver, kDriversGetDevice, correlation);
  Expect("", "3:4294967294 3:3 3:4294967295 ");
  EXPECT_EQ(session_.latest_call(), 3u) << "they wrapped";
  records_.clear();
  Call(kDriver, kDriversGetDevice, 2);
  Expect("", "3:2 ");
  EXPECT_EQ(session_.latest_call(), 3u);
}

TEST_F(BufferSharing, OfABufferThatCameBackLateWhatWasOursIsOurs) {
  WeWantLaunches();
  session_.DisableOurs();
  for (const std::uint32_t cbid : {kLaunchCall, kDriversLaunch})
    session_.SetCall(SharedSession::kOurs, CudaDomain::kDriver, cbid, false);
  Call(kRuntime, kLaunchKernel, 1);
  Call(kRuntime, kGetDevice, 2);
  Expect("211:1 ", "211:1 ");
}

TEST_F(BufferSharing, OfALaunchInsideAnotherOnlyTheOuterOneIsTold) {
  WeWantLaunches();
  Call(kDriver, kDriversLaunch, 1);
  Call(kRuntime, kLaunchKernel, 1);
  Call(kRuntime, kLaunchKernel, 2);
  Call(kDriver, kDriversLaunch, 2);
  Call(kDriver, kDriversLaunch, 3);
  Call(kDriver, kDriversLaunch, 4);
  Call(kRuntime, kLaunchKernel, 5);
  Expect("211:1 211:2 652:3 652:4 211:5 ", "211:1 211:2 652:3 652:4 211:5 ");
}

TEST_F(BufferSharing, TheLastRecordIsNotForgotten) {
  WeWantLaunches();
  Call(kRuntime, kMemcpyAsync, 1);
  Call(kDriver, kDriversLaunch, 2);
  Expect("41:1 652:2 ", "41:1 652:2 ");
}

TEST_F(BufferSharing, CallsWithoutCorrelationAreNotTakenForOne) {
  WeWantLaunches();
  Call(kDriver, kDriversLaunch, 0);
  Call(kRuntime, kLaunchKernel, 0);
  Call(kDriver, kDriversLaunch, 0);
  Expect("652:0 211:0 652:0 ", "652:0 211:0 652:0 ");
}

// Kinds of records in a buffer, after it was divided.
class NewKinds : public BufferSharing {
 protected:
  void Add(CUpti_ActivityKind kind) {
    bytes_.resize(bytes_.size() + kNewBytes);
    std::memcpy(bytes_.data() + bytes_.size() - kNewBytes, &kind, sizeof kind);
  }
  void AddCall(std::uint32_t cbid) {
    ApiRecord record{};
    record.kind = kRuntime;
    record.cbid = cbid;
    record.threadId = 1;
    bytes_.insert(bytes_.end(), reinterpret_cast<std::uint8_t*>(&record),
                  reinterpret_cast<std::uint8_t*>(&record + 1));
  }
  std::vector<CUpti_ActivityKind> Kept() {
    const std::size_t kept = traceinject::Divide(session_, bytes_.data(), bytes_.size(), 0,
                                                 [](const CUpti_Activity*, std::size_t) {});
    std::vector<CUpti_ActivityKind> kinds;
    CUpti_Activity* record = nullptr;
    while (GetNextRecord(bytes_.data(), kept, &record) == CUPTI_SUCCESS)
      kinds.push_back(record->kind);
    return kinds;
  }

  std::vector<std::uint8_t> bytes_;
};

TEST_F(NewKinds, AreTheOtherClientsWhetherOrNotTheyCanBeKnown) {
  session_.SetKind(SharedSession::kTheirs, kNewKind, true);
  Add(kNewKind);
  AddCall(kGetDevice);  // nobody's: what follows moves
  Add(kUnheardOf);
  AddCall(kLaunchKernel);
  Add(kNewKind);
  EXPECT_EQ(Kept(), (std::vector<CUpti_ActivityKind>{kNewKind, kUnheardOf, kRuntime, kNewKind}));
}

TEST_F(NewKinds, ASessionMayBeOfThemAlone) {
  session_.SetKind(SharedSession::kTheirs, kRuntime, false);
  session_.SetKind(SharedSession::kTheirs, kDriver, false);
  EXPECT_FALSE(session_.BuffersAreTheirs());
  session_.SetKind(SharedSession::kTheirs, kNewKind, true);
  EXPECT_TRUE(session_.BuffersAreTheirs());
  session_.SetKind(SharedSession::kTheirs, kNewKind, false);
  EXPECT_FALSE(session_.BuffersAreTheirs());
}

// Buffers with a page after them that must not be touched.
std::uint8_t* TakeGuarded() {
  static auto* buffers = new std::vector<GuardedMemory>;
  return buffers->emplace_back(BufferPool::kBufferBytes).data();
}
std::size_t g_delivered = 0;
constexpr RecordCopies::Way kWay{TakeGuarded, [](CUpti_Activity*) { return true; },
                                 [](std::uint8_t*, std::size_t bytes) { g_delivered += bytes; }};

// As where the GPU stands still when the other client asks for everything: its buffers are of 4 MB.
TEST_F(BufferSharing, AWalkThatEndsEarlyCopiesNoMoreThanARecord) {
  WeWantLaunches();
  const GuardedMemory theirs(4 << 20);
  Call(kRuntime, kMemcpyAsync, 1);
  Call(kRuntime, kMemcpyAsync, 2);
  std::memcpy(theirs.data(), records_.data(), 2 * sizeof(ApiRecord));
  g_delivered = 0;
  std::size_t kept = 0;
  {
    RecordCopies copies(kWay);
    kept = traceinject::Divide(
        session_, theirs.data(), theirs.bytes(), 0,
        [&](const CUpti_Activity* record, std::size_t bytes) { copies.Add(record, bytes); });
  }
  EXPECT_GE(g_delivered, 2 * sizeof(ApiRecord));
  EXPECT_LE(g_delivered, 1024u);
  EXPECT_EQ(kept, theirs.bytes()) << "what CUPTI wrote there is the other client's to judge";
}

TEST(RecordCopiesTest, DropsAndCountsWhatIsLargerThanABuffer) {
  const GuardedMemory theirs(4 << 20);
  const auto* record = reinterpret_cast<const CUpti_Activity*>(theirs.data());
  const std::int64_t dropped = g_counters.Get(Health::kCuptiDropped);
  g_delivered = 0;
  {
    RecordCopies copies(kWay);
    copies.Add(record, sizeof(ApiRecord));
    copies.Add(record, BufferPool::kBufferBytes + 8);
    copies.Add(record, theirs.bytes());
    copies.Add(record, BufferPool::kBufferBytes);
  }
  EXPECT_EQ(g_counters.Get(Health::kCuptiDropped), dropped + 2);
  EXPECT_EQ(g_delivered, sizeof(ApiRecord) + BufferPool::kBufferBytes);
}

}  // namespace
}  // namespace traceinject
