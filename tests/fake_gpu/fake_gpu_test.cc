// SPDX-License-Identifier: Apache-2.0
// A small CUPTI client that checks what the fakes promise. Each case plays in a child process,
// since CUDA starts once a process. Built once for each imitated CUDA version.
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/fake_gpu/simulator/clock.h"
#include "tests/fake_gpu/simulator/program.h"

namespace traceinject::fake {
namespace {

struct Seen {
  CUpti_ActivityKind kind;
  std::vector<std::uint8_t> bytes;  // up to the next record, so also the record's size
  std::string name;

  template <typename Record>
  const Record& As() const {
    return *reinterpret_cast<const Record*>(bytes.data());
  }
};

struct Client {
  std::mutex mutex;
  std::vector<Seen> records;
  bool refuse_buffers = false;
  bool flush_in_callback = false;
};
Client client;

void Request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *most_records = 0;
  *bytes = 1 << 20;
  *buffer =
      client.refuse_buffers ? nullptr : static_cast<std::uint8_t*>(std::aligned_alloc(8, *bytes));
}

void Complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  if (client.flush_in_callback) cuptiActivityFlushAll(0);
  std::lock_guard lock(client.mutex);
  std::vector<std::uint8_t*> starts;
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    starts.push_back(reinterpret_cast<std::uint8_t*>(record));
  }
  for (std::size_t i = 0; i < starts.size(); ++i) {
    std::uint8_t* end = i + 1 < starts.size() ? starts[i + 1] : buffer + valid;
    Seen seen{reinterpret_cast<CUpti_Activity*>(starts[i])->kind, {starts[i], end}, ""};
    if (seen.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      seen.name = seen.As<CUpti_ActivityKernel9>().name;
    }
    client.records.push_back(std::move(seen));
  }
  std::free(buffer);
}

// What came so far; the worker may bring more meanwhile.
std::vector<Seen> Records() {
  std::lock_guard lock(client.mutex);
  return client.records;
}

std::vector<Seen> Records(CUpti_ActivityKind kind) {
  std::vector<Seen> found;
  for (const Seen& seen : Records()) {
    if (seen.kind == kind) found.push_back(seen);
  }
  return found;
}

void Listen(std::initializer_list<CUpti_ActivityKind> kinds) {
  cuptiActivityRegisterCallbacks(Request, Complete);
  for (CUpti_ActivityKind kind : kinds) cuptiActivityEnable(kind);
}

KernelCode Kernel(const char* name, std::int64_t duration_us) {
  KernelCode kernel;
  kernel.name = name;
  kernel.duration_ns = duration_us * 1'000;
  return kernel;
}

void Launch(const KernelCode& kernel, cudaStream_t stream = nullptr) {
  cudaLaunchKernel(&kernel, dim3(3, 2, 1), dim3(64), nullptr, 128, stream);
}

// Ends the child: 0 if `good`.
[[noreturn]] void Finish(bool good) { _exit(good ? 0 : 1); }

// Runs `body`, which ends in Finish(), in a child process.
void InChild(const std::function<void()>& body) {
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

bool FieldsAreThere() {
  Listen({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME,
          CUPTI_ACTIVITY_KIND_DRIVER});
  const KernelCode kernel = Kernel("some_kernel", 50);
  const std::int64_t before_ns = NowNs();
  Launch(kernel);
  cudaDeviceSynchronize();
  const std::int64_t after_ns = NowNs();
  cuptiActivityFlushAll(0);

  const auto kernels = Records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  const auto runtime = Records(CUPTI_ACTIVITY_KIND_RUNTIME);
  const auto driver = Records(CUPTI_ACTIVITY_KIND_DRIVER);
  if (kernels.size() != 1 || runtime.size() != 2 || driver.size() != 2) return false;
  const auto& record = kernels[0].As<CUpti_ActivityKernel9>();
  const auto& outer = runtime[0].As<CUpti_ActivityAPI>();
  const auto& inner = driver[0].As<CUpti_ActivityAPI>();
  return kernels[0].name == "some_kernel" && record.gridX == 3 && record.gridY == 2 &&
         record.blockX == 64 && record.dynamicSharedMemory == 128 &&
         record.end - record.start == 50'000 &&
         record.start > static_cast<std::uint64_t>(before_ns) &&
         record.end <= static_cast<std::uint64_t>(after_ns) &&
         record.correlationId == outer.correlationId &&
         outer.correlationId == inner.correlationId &&
         outer.cbid == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000 &&
         inner.cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel && outer.start <= inner.start &&
         inner.end <= outer.end;
}

TEST(FakeGpu, KernelAndItsTwoCallsShareOneCorrelation) {
  InChild([] {
    setenv("FAKE_CUPTI_NESTED", "1", 1);
    Finish(FieldsAreThere());
  });
}

TEST(FakeGpu, OfTwoCallsTheOuterOneIsTold) {
  InChild([] {
    Listen({CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER});
    Launch(Kernel("some_kernel", 50));
    cudaDeviceSynchronize();
    cuptiActivityFlushAll(0);
    Finish(Records(CUPTI_ACTIVITY_KIND_RUNTIME).size() == 2 &&
           Records(CUPTI_ACTIVITY_KIND_DRIVER).empty());
  });
}

TEST(FakeGpu, OnlyEnabledKindsAreDelivered) {
  InChild([] {
    Listen({CUPTI_ACTIVITY_KIND_MEMSET});
    void* memory = nullptr;
    cudaMalloc(&memory, 4096);
    cudaMemsetAsync(memory, 3, 4096, nullptr);
    Launch(Kernel("unseen", 1));
    cudaDeviceSynchronize();
    cuptiActivityFlushAll(0);
    const auto memsets = Records(CUPTI_ACTIVITY_KIND_MEMSET);
    Finish(Records().size() == 1 && memsets.size() == 1 &&
           memsets[0].As<CUpti_ActivityMemset4>().value == 3 &&
           memsets[0].As<CUpti_ActivityMemset4>().bytes == 4096);
  });
}

TEST(FakeGpu, PlainFlushWithholdsWorkThatRuns) {
  InChild([] {
    Listen({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
    const KernelCode kernel = Kernel("long", 300'000);
    Launch(kernel);
    cuptiActivityFlushAll(0);
    const bool withheld = Records().empty();
    cudaDeviceSynchronize();
    cuptiActivityFlushAll(0);
    const std::vector<Seen> records = Records();
    Finish(withheld && records.size() == 1 && records[0].As<CUpti_ActivityKernel9>().end != 0);
  });
}

TEST(FakeGpu, ForcedFlushReturnsWorkThatRunsWithoutItsEnd) {
  InChild([] {
    Listen({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
    const KernelCode kernel = Kernel("long", 10'000'000);
    Launch(kernel);
    Launch(kernel);
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    const std::vector<Seen> records = Records();
    Finish(records.size() == 2 && records[0].As<CUpti_ActivityKernel9>().end == 0 &&
           records[1].As<CUpti_ActivityKernel9>().start == 0);
  });
}

TEST(FakeGpu, StreamWaitsForAnEventOfAnotherStream) {
  InChild([] {
    Listen({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
    cudaStream_t first = nullptr;
    cudaStream_t second = nullptr;
    cudaEvent_t event = nullptr;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaEventCreate(&event);
    const KernelCode slow = Kernel("slow", 20'000);
    const KernelCode quick = Kernel("quick", 1);
    Launch(slow, first);
    cudaEventRecord(event, first);
    const bool busy = cudaEventQuery(event) == cudaErrorNotReady;
    cudaStreamWaitEvent(second, event, 0);
    Launch(quick, second);
    cudaStreamSynchronize(second);
    cuptiActivityFlushAll(0);
    std::map<std::string, CUpti_ActivityKernel9> by_name;
    for (const Seen& seen : Records()) by_name[seen.name] = seen.As<CUpti_ActivityKernel9>();
    Finish(busy && by_name["quick"].start >= by_name["slow"].end && by_name["slow"].end != 0 &&
           by_name["quick"].streamId != by_name["slow"].streamId);
  });
}

TEST(FakeGpu, RecordsHaveTheSizeOfTheVersion) {
  InChild([] {
    setenv("FAKE_CUPTI_VERSION", "26", 1);
    std::uint32_t version = 0;
    cuptiGetVersion(&version);
    const bool is_13 = version >= 130000;
    Listen({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY});
    char host[64] = {};
    void* memory = nullptr;
    cudaMalloc(&memory, 64);
    cudaMemcpyAsync(memory, host, 64, cudaMemcpyHostToDevice, nullptr);
    const KernelCode kernel = Kernel("k", 1);
    Launch(kernel);
    cudaDeviceSynchronize();
    cuptiActivityFlushAll(0);
    const auto copies = Records(CUPTI_ACTIVITY_KIND_MEMCPY);
    const auto kernels = Records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    Finish(copies.size() == 1 && copies[0].bytes.size() == 96 && kernels.size() == 1 &&
           kernels[0].bytes.size() == (is_13 ? 216 : 208) &&
           copies[0].As<CUpti_ActivityMemcpy5>().copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD &&
           copies[0].As<CUpti_ActivityMemcpy5>().srcKind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
  });
}

TEST(FakeGpu, GraphNodesShareTheLaunch) {
  InChild([] {
    Listen({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
    const KernelCode kernel = Kernel("node", 1);
    GraphCode graph;
    graph.id = 5;
    for (std::uint64_t id = 1; id <= 3; ++id)
      graph.nodes.push_back({&kernel, {1, 1, 1}, {1, 1, 1}, id});
    cudaGraphLaunch(reinterpret_cast<cudaGraphExec_t>(&graph), nullptr);
    cudaDeviceSynchronize();
    cuptiActivityFlushAll(0);
    const std::vector<Seen> records = Records();
    bool good = records.size() == 3;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const auto& record = records[i].As<CUpti_ActivityKernel9>();
      good = good && record.graphId == 5 && record.graphNodeId == i + 1 &&
             record.correlationId == records[0].As<CUpti_ActivityKernel9>().correlationId;
    }
    Finish(good);
  });
}

TEST(FakeGpu, ShuffledDeliveryLosesNothing) {
  InChild([] {
    setenv("FAKE_CUPTI_SHUFFLE", "11", 1);
    setenv("FAKE_CUPTI_DELAY_MS", "5", 1);
    Listen({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
    const KernelCode kernel = Kernel("k", 1);
    for (int i = 0; i < 500; ++i) Launch(kernel);
    cudaDeviceSynchronize();
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    std::vector<std::uint64_t> starts;
    for (const Seen& seen : Records()) {
      starts.push_back(seen.As<CUpti_ActivityKernel9>().start);
    }
    const bool in_order = std::is_sorted(starts.begin(), starts.end());
    std::sort(starts.begin(), starts.end());
    const bool distinct = std::unique(starts.begin(), starts.end()) == starts.end();
    Finish(starts.size() == 500 && distinct && !in_order);
  });
}

TEST(FakeGpu, DroppedRecordsAreCounted) {
  InChild([] {
    setenv("FAKE_CUPTI_DROP", "3", 1);
    Listen({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
    const KernelCode kernel = Kernel("k", 1);
    for (int i = 0; i < 5; ++i) Launch(kernel);
    cudaDeviceSynchronize();
    cuptiActivityFlushAll(0);
    std::size_t dropped = 0;
    std::size_t again = 0;
    cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
    cuptiActivityGetNumDroppedRecords(nullptr, 0, &again);
    Finish(Records().size() == 2 && dropped == 3 && again == 0);
  });
}

void LaunchWithoutBuffers() {
  client.refuse_buffers = true;
  Listen({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
  const KernelCode kernel = Kernel("k", 1);
  Launch(kernel);
  std::size_t dropped = 0;
  cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  Finish(dropped == 1);
}

TEST(FakeGpu, RefusedBufferKillsOldVersionsAndDropsInNewOnes) {
  std::uint32_t version = 0;
  cuptiGetVersion(&version);
  if (version < 27) {
    EXPECT_DEATH(LaunchWithoutBuffers(), "lent no buffer");
  } else {
    InChild(LaunchWithoutBuffers);
  }
}

TEST(FakeGpu, FlushInACallbackIsCaught) {
  EXPECT_DEATH(
      {
        client.flush_in_callback = true;
        Listen({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
        const KernelCode kernel = Kernel("k", 1);
        Launch(kernel);
        cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
      },
      "called from a buffer callback");
}

TEST(FakeGpu, CudaDoesNotWorkInAForkedChild) {
  InChild([] {
    Listen({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
    void* memory = nullptr;
    cudaMalloc(&memory, 64);
    if (const pid_t child = fork(); child == 0) {
      Finish(cudaMalloc(&memory, 64) == cudaErrorInitializationError);
    } else {
      int status = 1;
      waitpid(child, &status, 0);
      Finish(status == 0);
    }
  });
}

}  // namespace
}  // namespace traceinject::fake
