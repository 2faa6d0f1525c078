// SPDX-License-Identifier: Apache-2.0
// Another client of CUPTI's activity API in the same process, which finds CUPTI's functions by
// dlsym and makes the calls that Triton's Proton makes, in their order. Kernels that began while it
// recorded it writes out, a line each; of other records it knows nothing. It frees every buffer
// that it is handed. FAKE_PROFILER_CUPTI: the path of a copy of libcupti that it brings along.
// FAKE_PROFILER_FLUSHES=1: it flushes without a pause, but for the first 20 ms.
#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr std::size_t kBufferBytes = 64 << 20;

void* Cupti() {
  const char* own = std::getenv("FAKE_PROFILER_CUPTI");
  void* library = dlopen(own != nullptr ? own : FAKE_CUPTI_NAME, RTLD_LAZY | RTLD_LOCAL);
  if (library != nullptr) return library;
  std::fprintf(stderr, "unseen client: %s\n", dlerror());
  std::exit(2);
}

// The function of libcupti, whoever else defines one of that name.
template <typename Function>
Function* Find(const char* name) {
  static void* library = Cupti();
  return reinterpret_cast<Function*>(dlsym(library, name));
}
#define CUPTI(function, ...)                                                                \
  do {                                                                                      \
    const CUptiResult result = Find<decltype(function)>(#function)(__VA_ARGS__);            \
    if (result != CUPTI_SUCCESS)                                                            \
      std::fprintf(stderr, "unseen client: %s: %d\n", #function, static_cast<int>(result)); \
  } while (false)

std::mutex g_mutex;
std::string& g_lines = *new std::string;  // records may come while the process ends
std::uint64_t g_began = 0;
CUpti_SubscriberHandle g_subscriber = nullptr;

void CUPTIAPI OnRequested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = kBufferBytes;
  *max_records = 0;
}

void Write(const CUpti_ActivityKernel9& kernel) {
  if (kernel.start < g_began) return;
  char line[512];
  std::snprintf(line, sizeof line,
                "{\"kind\": %d, \"correlation\": %u, \"name\": \"%s\", \"start\": %llu, \"end\": "
                "%llu}\n",
                static_cast<int>(kernel.kind), kernel.correlationId, kernel.name,
                static_cast<unsigned long long>(kernel.start),
                static_cast<unsigned long long>(kernel.end));
  g_lines += line;
}

void CUPTIAPI OnCompleted(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid_bytes) {
  const std::lock_guard lock(g_mutex);
  CUpti_Activity* record = nullptr;
  while (Find<decltype(cuptiActivityGetNextRecord)>("cuptiActivityGetNextRecord")(
             buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      Write(*reinterpret_cast<CUpti_ActivityKernel9*>(record));
  }
  std::free(buffer);
}

std::thread g_flushes;
std::atomic<bool> g_is_flushing{false};

void Flush() {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  while (g_is_flushing) CUPTI(cuptiActivityFlushAll, 0);
}

}  // namespace

EXPORT void profiler_start() {
  CUPTI(cuptiSubscribe, &g_subscriber, nullptr, nullptr);
  CUPTI(cuptiGetTimestamp, &g_began);
  CUPTI(cuptiActivityEnable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  CUPTI(cuptiActivityRegisterCallbacks, OnRequested, OnCompleted);
  g_is_flushing = std::getenv("FAKE_PROFILER_FLUSHES") != nullptr;
  if (g_is_flushing) g_flushes = std::thread(Flush);
}

// Appends what came to the file at `path`.
EXPORT void profiler_stop(const char* path, bool finalize) {
  if (g_is_flushing.exchange(false)) g_flushes.join();
  CUPTI(cuptiActivityFlushAll, 0);
  CUPTI(cuptiActivityFlushAll, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  CUPTI(cuptiActivityDisable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  CUPTI(cuptiUnsubscribe, g_subscriber);
  if (finalize) CUPTI(cuptiFinalize);
  const std::lock_guard lock(g_mutex);
  std::FILE* file = std::fopen(path, "a");
  std::fputs("{\"kind\": \"session\"}\n", file);
  std::fputs(g_lines.c_str(), file);
  std::fclose(file);
  g_lines.clear();
}
