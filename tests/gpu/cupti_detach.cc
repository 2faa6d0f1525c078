// SPDX-License-Identifier: Apache-2.0
// Whether CUPTI can be taken out of a process that goes on launching: cuptiFinalize() is all that
// removes what CUPTI leaves behind (cupti_residue.cc). Threads launch kernels, copy and wait while
// one thread enables, disables, flushes and finalizes again and again. Prints how often it did, how
// long each part took, and the longest launch meanwhile; a crash or a hang is the other answer.
//
// usage: cupti_detach LIBCUPTI SECONDS thread|callback
//   thread     cuptiFinalize() is called by the thread that enables and disables
//   callback   by a launching thread, at the exit of one of its CUDA calls, as NVIDIA advises
#include <cuda.h>
#include <cupti.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "empty_kernel.h"

namespace {

using empty_kernel::Check;
using empty_kernel::Find;
using Clock = std::chrono::steady_clock;

constexpr int kThreads = 4;
constexpr std::size_t kBufferBytes = 1 << 20, kCopyBytes = 4096;
constexpr auto kOn = std::chrono::milliseconds(30), kOff = std::chrono::milliseconds(20);
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};

std::atomic<bool> g_ended{false}, g_finalize_wanted{false};
std::atomic<std::int64_t> g_longest_ns{0}, g_launches{0}, g_records{0};
decltype(cuptiFinalize)* g_finalize;

std::int64_t Since(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

void CUPTIAPI OnRequested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = kBufferBytes;
  *max_records = 0;
}

void CUPTIAPI OnCompleted(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid_bytes) {
  g_records += static_cast<std::int64_t>(valid_bytes);
  std::free(buffer);
}

void CUPTIAPI OnCall(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  if (static_cast<const CUpti_CallbackData*>(data)->callbackSite != CUPTI_API_EXIT) return;
  if (g_finalize_wanted.exchange(false)) {
    Check(g_finalize(), "cuptiFinalize");
    g_finalize_wanted.notify_all();
  }
}

// Kernels, copies and waits until the end. `attach` makes the GPU's context the thread's own.
void Work(const empty_kernel::Gpu& gpu, const std::function<void()>& attach,
          const std::function<void()>& copy) {
  attach();
  for (int round = 0; !g_ended; ++round) {
    for (int i = 0; i < 100; ++i) {
      const auto begin = Clock::now();
      gpu.launch();
      const std::int64_t took = Since(begin);
      if (took > g_longest_ns) g_longest_ns = took;
    }
    g_launches += 100;
    copy();
    if (round % 4 == 0) gpu.wait();
  }
}

struct Cycle {
  std::int64_t enable_ns, disable_ns, finalize_ns, longest_launch_ns;
};

class Cupti {
 public:
  Cupti(const char* path, bool in_callback)
      : library_(empty_kernel::Open(path)), in_callback_(in_callback) {
    g_finalize = Find<decltype(cuptiFinalize)>(library_, "cuptiFinalize");
  }

  Cycle Once() {
    Cycle cycle{};
    g_longest_ns = 0;
    auto begin = Clock::now();
    Call<decltype(cuptiActivityRegisterCallbacks)>("cuptiActivityRegisterCallbacks", OnRequested,
                                                   OnCompleted);
    for (const CUpti_ActivityKind kind : kKinds)
      Call<decltype(cuptiActivityEnable)>("cuptiActivityEnable", kind);
    cycle.enable_ns = Since(begin);
    std::this_thread::sleep_for(kOn);
    begin = Clock::now();
    for (const CUpti_ActivityKind kind : kKinds)
      Call<decltype(cuptiActivityDisable)>("cuptiActivityDisable", kind);
    Call<decltype(cuptiActivityFlushAll)>("cuptiActivityFlushAll", 1U);
    cycle.disable_ns = Since(begin);
    begin = Clock::now();
    in_callback_ ? FinalizeInCallback() : Check(g_finalize(), "cuptiFinalize");
    cycle.finalize_ns = Since(begin);
    std::this_thread::sleep_for(kOff);
    cycle.longest_launch_ns = g_longest_ns;
    return cycle;
  }

 private:
  template <typename Function, typename... Arguments>
  void Call(const char* name, Arguments... arguments) {
    Check(Find<Function>(library_, name)(arguments...), name);
  }

  void FinalizeInCallback() {
    CUpti_SubscriberHandle subscriber = nullptr;
    Call<decltype(cuptiSubscribe)>("cuptiSubscribe", &subscriber,
                                   reinterpret_cast<CUpti_CallbackFunc>(OnCall), nullptr);
    g_finalize_wanted = true;
    for (const CUpti_CallbackDomain domain :
         {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API})
      Call<decltype(cuptiEnableDomain)>("cuptiEnableDomain", 1U, subscriber, domain);
    g_finalize_wanted.wait(true);
  }

  void* library_;
  bool in_callback_;
};

void Print(const char* what, std::vector<Cycle> cycles, std::int64_t Cycle::*part) {
  std::sort(cycles.begin(), cycles.end(),
            [&](const Cycle& a, const Cycle& b) { return a.*part < b.*part; });
  std::printf("%-16s median %8.2f ms, longest %8.2f ms\n", what,
              static_cast<double>(cycles[cycles.size() / 2].*part) / 1e6,
              static_cast<double>(cycles.back().*part) / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: cupti_detach LIBCUPTI SECONDS thread|callback\n");
    return 2;
  }
  const empty_kernel::Gpu gpu = empty_kernel::ThroughDriver();
  void* cuda = empty_kernel::Open("libcuda.so.1");
  CUcontext context;
  CUdeviceptr memory;
  Check(Find<decltype(cuCtxGetCurrent)>(cuda, "cuCtxGetCurrent")(&context), "cuCtxGetCurrent");
  Check(Find<CUresult(CUdeviceptr*, std::size_t)>(cuda, "cuMemAlloc_v2")(&memory, kCopyBytes),
        "cuMemAlloc");
  auto* set_current = Find<CUresult(CUcontext)>(cuda, "cuCtxSetCurrent");
  auto* copy = Find<CUresult(CUdeviceptr, const void*, std::size_t)>(cuda, "cuMemcpyHtoD_v2");
  const std::vector<char> bytes(kCopyBytes);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      Work(
          gpu, [&] { Check(set_current(context), "cuCtxSetCurrent"); },
          [&] { Check(copy(memory, bytes.data(), kCopyBytes), "cuMemcpyHtoD"); });
    });
  }
  Cupti cupti(argv[1], std::string(argv[3]) == "callback");
  std::vector<Cycle> cycles;
  const auto begin = Clock::now();
  while (Since(begin) < std::atoi(argv[2]) * 1'000'000'000LL) cycles.push_back(cupti.Once());
  g_ended = true;
  for (std::thread& thread : threads) thread.join();
  std::printf("%s: %zu times, %lld launches, %lld bytes of records\n", argv[3], cycles.size(),
              static_cast<long long>(g_launches), static_cast<long long>(g_records));
  Print("enable", cycles, &Cycle::enable_ns);
  Print("disable, flush", cycles, &Cycle::disable_ns);
  Print("finalize", cycles, &Cycle::finalize_ns);
  Print("longest launch", cycles, &Cycle::longest_launch_ns);
}
