// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/stream_ids.h"

#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "injector/base/loaded_libraries.h"
#include "injector/cupti/library.h"

// This program is the driver.
extern "C" __attribute__((visibility("default"))) CUresult CUDAAPI
cuCtxGetCurrent(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(0x1000);
  return CUDA_SUCCESS;
}

namespace traceinject {

void* OpenLoaded(const char*) { return dlopen(nullptr, RTLD_LAZY); }

namespace {

std::atomic<int> g_asked{0};
thread_local std::uint32_t t_default_stream = 0;

CUptiResult CUPTIAPI ContextId(CUcontext, std::uint32_t* id) { return *id = 7, CUPTI_SUCCESS; }
CUptiResult CUPTIAPI DeviceId(CUcontext, std::uint32_t* id) { return *id = 1, CUPTI_SUCCESS; }

CUptiResult CUPTIAPI StreamIdEx(CUcontext, CUstream stream, std::uint8_t per_thread,
                                std::uint32_t* id) {
  ++g_asked;
  const bool own = stream == CU_STREAM_PER_THREAD || (per_thread != 0 && stream == nullptr);
  *id =
      own ? t_default_stream : static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stream));
  return CUPTI_SUCCESS;
}

class StreamIdsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    static CuptiLibrary cupti;
    cupti.GetContextId = ContextId;
    cupti.GetDeviceId = DeviceId;
    cupti.GetStreamIdEx = StreamIdEx;
    BindStreamIds(&cupti);
  }
};

TEST_F(StreamIdsTest, AsksOnceAStream) {
  void* handle = reinterpret_cast<void*>(0x50);
  const int before = g_asked;
  for (int i = 0; i < 3; ++i) {
    const StreamId id = LookUpStream(handle, false);
    EXPECT_TRUE(id.known);
    EXPECT_EQ(id.device, 1U);
    EXPECT_EQ(id.context, 7U);
    EXPECT_EQ(id.stream, 0x50U);
  }
  EXPECT_EQ(g_asked, before + 1);
  ForgetStreams();
  LookUpStream(handle, false);
  EXPECT_EQ(g_asked, before + 2);
}

// Also for threads one after the other, which may lie at the same addresses.
TEST_F(StreamIdsTest, DefaultStreamOfAThreadIsItsOwn) {
  for (std::uint32_t thread = 1; thread <= 20; ++thread) {
    std::thread([thread] {
      t_default_stream = 100 + thread;
      EXPECT_EQ(LookUpStream(nullptr, true).stream, 100 + thread);
      EXPECT_EQ(LookUpStream(CU_STREAM_PER_THREAD, false).stream, 100 + thread);
      EXPECT_EQ(LookUpStream(CU_STREAM_PER_THREAD, true).stream, 100 + thread);
      EXPECT_EQ(LookUpStream(nullptr, false).stream, 0U);
    }).join();
  }
}

}  // namespace
}  // namespace traceinject
