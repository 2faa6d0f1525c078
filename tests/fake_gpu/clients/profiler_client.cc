// SPDX-License-Identifier: Apache-2.0
// Another client of CUPTI's activity API in the same process, which makes the calls that PyTorch's
// profiler makes, in their order, and is linked with libcupti as libtorch_cpu.so is. What it gets
// it writes out, a line a record.
#include <cupti.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "tests/fake_gpu/simulator/clock.h"
#include "tests/faults/guarded_memory.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using traceinject::GuardedMemory;

constexpr std::size_t kBufferBytes = 4 << 20;

struct Client {
  std::mutex mutex;
  std::map<std::uint8_t*, GuardedMemory> buffers;  // nobody writes beyond
  std::set<std::uint8_t*> lent;                    // those that CUPTI has
  std::map<std::uint8_t*, std::size_t> ready;      // valid bytes of those that came back
  CUpti_SubscriberHandle subscriber = nullptr;
};
Client& TheClient() {
  static auto* client = new Client;
  return *client;
}

// PyTorch's is destroyed when the process ends, before what was registered earlier.
struct Lifetime {
  static inline bool ended = false;
  ~Lifetime() { ended = true; }
};
void MustLive() {
  if (!Lifetime::ended) return;
  std::fputs("the profiler is called after its end\n", stderr);
  std::abort();
}

// A counter of three ticks a nanosecond.
std::uint64_t Ticks() {
  constexpr std::int64_t kSome = 1'700'000'000'000'000'000;
  return static_cast<std::uint64_t>(traceinject::fake::NowNs() - kSome) * 3;
}

void CUPTIAPI OnRequested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  MustLive();
  Client& client = TheClient();
  const std::lock_guard lock(client.mutex);
  GuardedMemory memory(kBufferBytes);
  *buffer = memory.data();
  *size = kBufferBytes;
  *max_records = 0;
  client.buffers.emplace(*buffer, std::move(memory));
  client.lent.insert(*buffer);
}

void CUPTIAPI OnCompleted(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid_bytes) {
  MustLive();
  Client& client = TheClient();
  const std::lock_guard lock(client.mutex);
  if (client.lent.erase(buffer) == 0) {
    std::fputs("bufferCompleted called with unknown buffer\n", stderr);
    return;
  }
  client.ready[buffer] = valid_bytes;
}

bool IsSet(const char* variable, const char* value) {
  const char* text = std::getenv(variable);
  return text != nullptr && std::strcmp(text, value) == 0;
}

// FAKE_PROFILER_KERNELS=serial: it wants them one at a time.
const CUpti_ActivityKind kKernels = IsSet("FAKE_PROFILER_KERNELS", "serial")
                                        ? CUPTI_ACTIVITY_KIND_KERNEL
                                        : CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
const CUpti_ActivityKind kGpuKinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
                                        kKernels, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                        CUPTI_ACTIVITY_KIND_RUNTIME};
// cudaGetDevice, which the profiler leaves out.
constexpr CUpti_CallbackId kLeftOut = 17;

void Check(CUptiResult result, const char* what) {
  if (result != CUPTI_SUCCESS) std::fprintf(stderr, "profiler: %s: %d\n", what, result);
}

void Enable() {
  for (const CUpti_ActivityKind kind : kGpuKinds)
    Check(cuptiActivityEnable(kind), "cuptiActivityEnable");
}

void Write(std::FILE* file, const CUpti_Activity* record) {
  const auto times = [&](std::size_t at) {
    std::uint64_t start_end[2];
    std::memcpy(start_end, reinterpret_cast<const std::uint8_t*>(record) + at, sizeof start_end);
    std::fprintf(file, ", \"start\": %llu, \"end\": %llu",
                 static_cast<unsigned long long>(start_end[0]),
                 static_cast<unsigned long long>(start_end[1]));
  };
  std::fprintf(file, "{\"kind\": %d", static_cast<int>(record->kind));
  if (record->kind == kKernels) {
    const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
    std::fprintf(file, ", \"correlation\": %u, \"name\": \"%s\"", kernel->correlationId,
                 kernel->name);
    times(offsetof(CUpti_ActivityKernel9, start));
  } else if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME ||
             record->kind == CUPTI_ACTIVITY_KIND_DRIVER) {
    const auto* call = reinterpret_cast<const CUpti_ActivityAPI*>(record);
    std::fprintf(file, ", \"correlation\": %u, \"cbid\": %u", call->correlationId, call->cbid);
    times(offsetof(CUpti_ActivityAPI, start));
  }
  std::fputs("}\n", file);
}

void PauseFor(const char* setting) {
  if (const char* ms = std::getenv(setting))
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(ms)));
}

// As PyTorch's, it looks for records only while CUPTI has a buffer. False: it does not.
bool Flush() {
  Client& client = TheClient();
  {
    const std::lock_guard lock(client.mutex);
    if (client.lent.empty()) return false;
  }
  Check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
  std::size_t size = 1;
  std::uint8_t off = 0;
  Check(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &off),
        "cuptiActivitySetAttribute");
  return true;
}

void WriteReady(const char* path) {
  Client& client = TheClient();
  std::FILE* file = std::fopen(path, "a");
  std::fputs("{\"kind\": \"session\"}\n", file);
  const std::lock_guard lock(client.mutex);
  for (const auto& [buffer, valid_bytes] : client.ready) {
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
      Write(file, record);
    client.buffers.erase(buffer);
  }
  client.ready.clear();
  std::fclose(file);
}

}  // namespace

EXPORT void profiler_start() {
  static const Lifetime lifetime;
  Client& client = TheClient();
  // FAKE_PROFILER_SUBSCRIBES=0: it does not, as PyTorch's of late 2026.
  if (client.subscriber == nullptr && !IsSet("FAKE_PROFILER_SUBSCRIBES", "0"))
    Check(cuptiSubscribe(&client.subscriber, nullptr, nullptr), "cuptiSubscribe");
  // FAKE_PROFILER_CLOCK=0: it leaves CUPTI's clock alone.
  if (!IsSet("FAKE_PROFILER_CLOCK", "0")) {
    Check(cuptiActivityRegisterTimestampCallback(Ticks), "cuptiActivityRegisterTimestampCallback");
  }
  // FAKE_PROFILER_ORDER=enable: it enables its kinds first, as CUPTI's own samples do.
  const bool enables_first = IsSet("FAKE_PROFILER_ORDER", "enable");
  if (enables_first) Enable();
  Check(cuptiActivityRegisterCallbacks(OnRequested, OnCompleted), "cuptiActivityRegisterCallbacks");
  if (!enables_first) Enable();
#ifdef FAKE_CUPTI_HAS_CALL_SELECTION
  Check(cuptiActivityEnableRuntimeApi(kLeftOut, 0), "cuptiActivityEnableRuntimeApi");
#endif
}

// Appends what the session brought to the file at `path`.
EXPORT void profiler_stop(const char* path, bool finalize) {
  Client& client = TheClient();
  PauseFor("FAKE_PROFILER_IDLE_MS");  // so long the program does nothing at the end of the session
  for (const CUpti_ActivityKind kind : kGpuKinds)
    Check(cuptiActivityDisable(kind), "cuptiActivityDisable");
  PauseFor("FAKE_PROFILER_PAUSE_MS");  // and so long it does nothing before it asks for its records
  if (Flush()) WriteReady(path);
  if (!finalize) return;
  if (client.subscriber != nullptr) Check(cuptiUnsubscribe(client.subscriber), "cuptiUnsubscribe");
  client.subscriber = nullptr;
  Check(cuptiFinalize(), "cuptiFinalize");
}
