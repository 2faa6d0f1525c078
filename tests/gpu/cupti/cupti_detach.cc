// SPDX-License-Identifier: Apache-2.0
// Whether CUPTI can be taken out of a process that goes on launching: cuptiFinalize() is all that
// removes what CUPTI leaves behind (cupti_residue.cc). Threads launch kernels, copy and wait while
// one thread enables, disables, flushes and finalizes again and again. Prints how often it did, how
// long each part took, and the longest launch meanwhile; a crash or a hang is the other answer.
//
// usage: cupti_detach LIBCUPTI SECONDS thread|callback [driver-calls] [runtime-calls]
//                     [subscribe] [runtime=LIBCUDART] [threads=N] [other=LIBCUPTI]
//   thread     cuptiFinalize() is called by the thread that enables and disables
//   callback   by a launching thread, at the exit of one of its CUDA calls, as NVIDIA advises
//   driver-calls, runtime-calls   records of CUDA calls are on as well, call by call
//   subscribe  the thread subscribes and unsubscribes before it finalizes
//   runtime    launches through this libcudart (default: through the driver)
//   threads    that launch (default: 4)
//   other      between cuptiFinalize() and the next round, another copy of CUPTI subscribes
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

constexpr std::size_t kBufferBytes = 1 << 20, kCopyBytes = 4096;
constexpr auto kOn = std::chrono::milliseconds(30), kOff = std::chrono::milliseconds(20);
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};

// Launches and copies of the driver and the runtime (cupti_driver_cbid.h, cupti_runtime_cbid.h).
constexpr CUpti_CallbackId kDriverCalls[] = {4, 17, 277, 307, 514, 652},
                           kRuntimeCalls[] = {31, 41, 131, 165, 225};

struct Options {
  bool in_callback = false, driver_calls = false, runtime_calls = false, subscribe = false;
  std::string runtime, other;
  int threads = 4;
};

std::atomic<bool> g_ended{false}, g_finalize_wanted{false}, g_finalized{false};
CUpti_SubscriberHandle g_subscriber;
decltype(cuptiUnsubscribe)* g_unsubscribe;
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
  bool wanted = true;
  if (!g_finalize_wanted.compare_exchange_strong(wanted, false)) return;
  Check(g_unsubscribe(g_subscriber), "cuptiUnsubscribe");
  Check(g_finalize(), "cuptiFinalize");
  g_finalized = true;
  g_finalized.notify_all();
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
  Cupti(const char* path, Options options)
      : library_(empty_kernel::Open(path)), options_(std::move(options)) {
    g_finalize = Find<decltype(cuptiFinalize)>(library_, "cuptiFinalize");
    g_unsubscribe = Find<decltype(cuptiUnsubscribe)>(library_, "cuptiUnsubscribe");
  }

  Cycle Once() {
    Cycle cycle{};
    g_longest_ns = 0;
    auto begin = Clock::now();
    Call<decltype(cuptiActivityRegisterCallbacks)>("cuptiActivityRegisterCallbacks", OnRequested,
                                                   OnCompleted);
    for (const CUpti_ActivityKind kind : kKinds)
      Call<decltype(cuptiActivityEnable)>("cuptiActivityEnable", kind);
    SwitchCalls(1);
    cycle.enable_ns = Since(begin);
    std::this_thread::sleep_for(kOn);
    begin = Clock::now();
    for (const CUpti_ActivityKind kind : kKinds)
      Call<decltype(cuptiActivityDisable)>("cuptiActivityDisable", kind);
    SwitchCalls(0);
    Call<decltype(cuptiActivityFlushAll)>("cuptiActivityFlushAll", 1U);
    cycle.disable_ns = Since(begin);
    begin = Clock::now();
    if (options_.subscribe) {
      Subscribe();
      Check(g_unsubscribe(g_subscriber), "cuptiUnsubscribe");
    }
    options_.in_callback ? FinalizeInCallback() : Check(g_finalize(), "cuptiFinalize");
    cycle.finalize_ns = Since(begin);
    std::this_thread::sleep_for(kOff);
    if (!options_.other.empty()) UseOther();
    cycle.longest_launch_ns = g_longest_ns;
    return cycle;
  }

 private:
  template <typename Function, typename... Arguments>
  void Call(const char* name, Arguments... arguments) {
    Check(Find<Function>(library_, name)(arguments...), name);
  }

  void Subscribe() {
    Call<decltype(cuptiSubscribe)>("cuptiSubscribe", &g_subscriber,
                                   reinterpret_cast<CUpti_CallbackFunc>(OnCall), nullptr);
  }

  void SwitchCalls(std::uint8_t on) {
    for (const CUpti_CallbackId call : kDriverCalls)
      if (options_.driver_calls)
        Call<CUptiResult(CUpti_CallbackId, std::uint8_t)>("cuptiActivityEnableDriverApi", call, on);
    for (const CUpti_CallbackId call : kRuntimeCalls)
      if (options_.runtime_calls)
        Call<CUptiResult(CUpti_CallbackId, std::uint8_t)>("cuptiActivityEnableRuntimeApi", call,
                                                          on);
  }

  void FinalizeInCallback() {
    Subscribe();
    g_finalized = false;
    g_finalize_wanted = true;
    for (const CUpti_CallbackDomain domain :
         {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API}) {
      if (!g_finalized)
        Find<decltype(cuptiEnableDomain)>(library_, "cuptiEnableDomain")(1U, g_subscriber, domain);
    }
    g_finalized.wait(false);
  }

  void UseOther() {
    void* other = empty_kernel::Open(options_.other.c_str());
    CUpti_SubscriberHandle subscriber = nullptr;
    Check(Find<decltype(cuptiSubscribe)>(other, "cuptiSubscribe")(
              &subscriber, reinterpret_cast<CUpti_CallbackFunc>(OnCall), nullptr),
          "the other copy's cuptiSubscribe");
    Check(Find<decltype(cuptiUnsubscribe)>(other, "cuptiUnsubscribe")(subscriber),
          "the other copy's cuptiUnsubscribe");
    Check(Find<decltype(cuptiFinalize)>(other, "cuptiFinalize")(),
          "the other copy's cuptiFinalize");
  }

  void* library_;
  Options options_;
};

void Print(const char* what, std::vector<Cycle> cycles, std::int64_t Cycle::*part) {
  std::sort(cycles.begin(), cycles.end(),
            [&](const Cycle& a, const Cycle& b) { return a.*part < b.*part; });
  std::printf("%-16s median %8.2f ms, longest %8.2f ms\n", what,
              static_cast<double>(cycles[cycles.size() / 2].*part) / 1e6,
              static_cast<double>(cycles.back().*part) / 1e6);
}

bool Parse(const std::string& word, Options* options) {
  const auto value = [&](const char* name) {
    return word.starts_with(name) ? word.substr(std::strlen(name)) : std::string();
  };
  options->in_callback |= word == "callback";
  options->driver_calls |= word == "driver-calls";
  options->runtime_calls |= word == "runtime-calls";
  options->subscribe |= word == "subscribe";
  if (!value("runtime=").empty()) options->runtime = value("runtime=");
  if (!value("other=").empty()) options->other = value("other=");
  if (!value("threads=").empty()) options->threads = std::atoi(value("threads=").c_str());
  return word.find('=') != std::string::npos || word == "thread" || word == "callback" ||
         word == "driver-calls" || word == "runtime-calls" || word == "subscribe";
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bool understood = argc >= 4;
  for (int i = 3; i < argc; ++i) understood &= Parse(argv[i], &options);
  if (!understood) {
    std::fprintf(stderr,
                 "usage: cupti_detach LIBCUPTI SECONDS thread|callback [driver-calls] "
                 "[runtime-calls] [subscribe] "
                 "[runtime=LIBCUDART] [threads=N] [other=LIBCUPTI]\n");
    return 2;
  }
  const empty_kernel::Gpu gpu = options.runtime.empty()
                                    ? empty_kernel::ThroughDriver()
                                    : empty_kernel::ThroughRuntime(options.runtime.c_str());
  if (!options.runtime.empty()) gpu.launch();  // makes the context current
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
  for (int i = 0; i < options.threads; ++i) {
    threads.emplace_back([&] {
      Work(
          gpu, [&] { Check(set_current(context), "cuCtxSetCurrent"); },
          [&] { Check(copy(memory, bytes.data(), kCopyBytes), "cuMemcpyHtoD"); });
    });
  }
  Cupti cupti(argv[1], options);
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
