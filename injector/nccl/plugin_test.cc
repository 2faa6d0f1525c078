// SPDX-License-Identifier: Apache-2.0
// The plug-in as NCCL calls it, version by version.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "injector/base/counters.h"
#include "injector/base/events.h"
#include "injector/base/sources.h"
#include "injector/base/state.h"
#include "injector/nccl/profiler_abi.h"

extern "C" {
extern traceinject::nccl_abi::ProfilerV1 ncclProfiler_v1;
extern traceinject::nccl_abi::ProfilerV4 ncclProfiler_v4;
extern traceinject::nccl_abi::ProfilerV5 ncclProfiler_v5;
}

namespace traceinject {
namespace {

using namespace nccl_abi;

class NcclPluginTest : public testing::Test {
 protected:
  void SetUp() override {
    g_state = State::kRunning;
    g_sources = ~0u;
    Drain([](const EventHeader&) {});
  }
  void TearDown() override {
    g_state = State::kArmed;
    unsetenv("TRACEINJECT_NCCL");
  }
  static void Drain(const std::function<void(const EventHeader&)>& visit) {
    g_rings.DrainAll([&](int, int, const EventHeader& event) { visit(event); }, [](int) {});
  }
  static std::vector<EventType> Types() {
    std::vector<EventType> types;
    Drain([&](const EventHeader& event) { types.push_back(static_cast<EventType>(event.type)); });
    return types;
  }
  static NcclOperationEvent Only() {
    NcclOperationEvent only{};
    int count = 0;
    Drain([&](const EventHeader& event) {
      ++count;
      only = reinterpret_cast<const NcclOperationEvent&>(event);
    });
    EXPECT_EQ(count, 1);
    return only;
  }
};

TEST_F(NcclPluginTest, MasksAskForNoEventThatCosts) {
  void* context = nullptr;
  int mask = -1;
  EXPECT_EQ(ncclProfiler_v1.init(&context, &mask), kSuccess);
  EXPECT_EQ(mask, kColl | kP2p);
  EXPECT_EQ(ncclProfiler_v5.init(&context, 7, &mask, "dp", 1, 2, 0, nullptr), kSuccess);
  EXPECT_EQ(mask, static_cast<int>(kColl | kP2p | kCollApi | kP2pApi | kKernelLaunch));
}

TEST_F(NcclPluginTest, SwitchedOffItAsksForNothing) {
  setenv("TRACEINJECT_NCCL", "0", 1);
  int mask = -1;
  EXPECT_EQ(ncclProfiler_v4.init(nullptr, &mask, nullptr, 7, 1, 2, 0, nullptr), kSuccess);
  EXPECT_EQ(mask, 0);
  EXPECT_TRUE(Types().empty());
}

TEST_F(NcclPluginTest, NullsAreHarmless) {
  void* handle = nullptr;
  EXPECT_EQ(ncclProfiler_v1.init(nullptr, nullptr), kSuccess);
  EXPECT_EQ(ncclProfiler_v4.init(nullptr, nullptr, nullptr, 0, 0, 0, 0, nullptr), kSuccess);
  EXPECT_EQ(ncclProfiler_v5.start_event(nullptr, &handle, nullptr), kSuccess);
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(ncclProfiler_v5.start_event(nullptr, nullptr, nullptr), kSuccess);
  DescriptorV5 empty{};
  EXPECT_EQ(ncclProfiler_v5.start_event(nullptr, &handle, &empty), kSuccess);
  DescriptorV5 call{};
  call.type = kCollApi;
  EXPECT_EQ(ncclProfiler_v5.start_event(nullptr, &handle, &call), kSuccess);
  EXPECT_EQ(ncclProfiler_v5.stop_event(nullptr), kSuccess);
  EXPECT_EQ(ncclProfiler_v5.record_event_state(nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(ncclProfiler_v5.finalize(nullptr), kSuccess);
}

TEST_F(NcclPluginTest, NothingHappensWhileNothingIsRecorded) {
  for (const State state : {State::kArmed, State::kFailed, State::kDone, State::kDead}) {
    g_state = state;
    void* context = nullptr;
    void* handle = &context;
    int mask = 0;
    ncclProfiler_v5.init(&context, 7, &mask, "dp", 1, 2, 0, nullptr);
    EXPECT_NE(mask, 0);  // recording may begin later
    EXPECT_NE(context, nullptr);
    DescriptorV5 launch{};
    launch.type = kKernelLaunch;
    ncclProfiler_v5.start_event(context, &handle, &launch);
    EXPECT_EQ(handle, nullptr);
    ncclProfiler_v5.finalize(context);
  }
  g_state = State::kRunning;
  EXPECT_TRUE(Types().empty());
}

TEST_F(NcclPluginTest, VersionOneHasNumbers) {
  DescriptorV1 coll{};
  coll.type = kColl;
  coll.coll.communicator = 7;
  coll.coll.sequence = 9;
  coll.coll.function = 4;
  coll.coll.count = 1000;
  coll.coll.datatype = 9;
  coll.coll.reduction = 4;
  coll.coll.channels = 16;
  coll.coll.warps = 20;
  coll.coll.algorithm = 1;
  coll.coll.protocol = 2;
  void* handle = nullptr;
  ncclProfiler_v1.start_event(nullptr, &handle, &coll);
  EXPECT_NE(handle, nullptr);
  const NcclOperationEvent event = Only();
  EXPECT_EQ(event.header.flags, 1);
  EXPECT_EQ(event.communicator, 7U);
  EXPECT_EQ(event.sequence, 9);
  EXPECT_EQ(event.reduction, 4);
  EXPECT_STREQ(event.function, "AllReduce");
  EXPECT_STREQ(event.datatype, "ncclBfloat16");
  EXPECT_STREQ(event.algorithm, "RING");
  EXPECT_STREQ(event.protocol, "SIMPLE");
  coll.coll.function = coll.coll.datatype = coll.coll.algorithm = coll.coll.protocol = 200;
  ncclProfiler_v1.start_event(nullptr, &handle, &coll);
  EXPECT_STREQ(Only().algorithm, "");
}

TEST_F(NcclPluginTest, CallsLaunchesAndOperationsOfVersionFive) {
  void* context = nullptr;
  int mask = 0;
  ncclProfiler_v5.init(&context, 7, &mask, std::string(100, 'n').c_str(), 2, 16, 3, nullptr);
  std::vector<void*> handles;
  const auto start = [&](DescriptorV5 descriptor) {
    void* handle = nullptr;
    ncclProfiler_v5.start_event(context, &handle, &descriptor);
    handles.push_back(handle);
    return handle;
  };
  DescriptorV5 group{};
  group.type = 1 << 8;
  void* group_handle = start(group);
  DescriptorV5 call{};
  call.type = kCollApi;
  call.parent = group_handle;
  call.coll_api.function = "a function of more than fifteen letters";
  call.coll_api.count = 5;
  call.coll_api.graph_captured = true;
  void* call_handle = start(call);
  ncclProfiler_v5.stop_event(call_handle);
  DescriptorV5 launch{};
  launch.type = kKernelLaunch;
  launch.parent = group_handle;
  ncclProfiler_v5.stop_event(start(launch));
  DescriptorV5 operation{};
  operation.type = kP2p;
  operation.parent = call_handle;
  operation.p2p.function = "Send";
  operation.p2p.peer = 4;
  operation.p2p.channels = 2;
  ncclProfiler_v5.stop_event(start(operation));
  ncclProfiler_v5.stop_event(group_handle);
  EXPECT_EQ(std::count(handles.begin(), handles.end(), nullptr), 0);

  std::vector<EventType> types;
  Drain([&](const EventHeader& event) {
    types.push_back(static_cast<EventType>(event.type));
    if (types.back() == EventType::kNcclInit) {
      const auto& init = reinterpret_cast<const NcclInitEvent&>(event);
      EXPECT_EQ(init.communicator, 7U);
      EXPECT_EQ(init.name_bytes, 63U);
      EXPECT_EQ(init.ranks, 16);
    } else if (types.back() == EventType::kNcclCall) {
      const auto& seen = reinterpret_cast<const NcclCallEvent&>(event);
      EXPECT_STREQ(seen.function, "a function of m");
      EXPECT_EQ(seen.captured, 1);
      EXPECT_EQ(seen.communicator, 7U);
    } else if (types.back() == EventType::kNcclOperation) {
      const auto& seen = reinterpret_cast<const NcclOperationEvent&>(event);
      EXPECT_EQ(reinterpret_cast<void*>(seen.call), call_handle);
      EXPECT_EQ(seen.peer, 4);
      EXPECT_EQ(seen.channels, 2);
      EXPECT_EQ(seen.sequence, -1);
    }
  });
  using enum EventType;
  EXPECT_EQ(types, (std::vector{kNcclInit, kNcclCall, kNcclCallEnd, kNcclLaunch, kNcclLaunchEnd,
                                kNcclOperation}));
}

TEST_F(NcclPluginTest, AFullQueueDropsAndCounts) {
  const std::int64_t before = g_counters.Get(Health::kNcclPluginDropped);
  DescriptorV5 operation{};
  operation.type = kColl;
  void* handle = nullptr;
  for (std::size_t i = 0; i < Ring::kBytes / sizeof(NcclOperationEvent) + 10; ++i) {
    ncclProfiler_v5.start_event(nullptr, &handle, &operation);
    EXPECT_NE(handle, nullptr);
  }
  EXPECT_GT(g_counters.Get(Health::kNcclPluginDropped), before);
  Drain([](const EventHeader&) {});
}

}  // namespace
}  // namespace traceinject
