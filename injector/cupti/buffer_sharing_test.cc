// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/buffer_sharing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace traceinject {
namespace {

constexpr auto kRuntime = CUPTI_ACTIVITY_KIND_RUNTIME;
constexpr auto kDriver = CUPTI_ACTIVITY_KIND_DRIVER;
constexpr std::uint32_t kLaunchKernel = 211, kGetDevice = 17, kMemcpyAsync = 41;
constexpr std::uint32_t kDriversLaunch = 652, kDriversGetDevice = 3;

// Every record is a call's.
CUptiResult CUPTIAPI GetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes,
                                   CUpti_Activity** record) {
  auto* next =
      *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + sizeof(ApiRecord);
  if (next >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
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
        traceinject::Divide(session_, buffer, records_.size() * sizeof(ApiRecord),
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

}  // namespace
}  // namespace traceinject
