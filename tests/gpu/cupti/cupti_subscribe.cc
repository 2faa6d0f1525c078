// SPDX-License-Identifier: Apache-2.0
// Whether a subscriber of CUPTI's may come and go while threads launch: CUPTI reads its subscriber
// on every launch, and one that leaves meanwhile crashed a process once
// (tests/gpu/results/cost.md). Kernels and launches are recorded, threads launch, and one thread
// subscribes and unsubscribes again and again. Prints how often, and how long the place was taken;
// a crash is the other answer.
//
// usage: cupti_subscribe LIBCUPTI SECONDS [call] [pause=US] [runtime=LIBCUDART] [threads=N]
//   call     a callback for one driver call is on meanwhile, and that call is made
//   pause    from when it is off until the subscriber leaves (default: 0)
//   runtime  launches through this libcudart (default: through the driver)
//   threads  that launch (default: 4)
#include <cuda.h>
#include <cupti.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "activity_buffers.h"
#include "empty_kernel.h"

namespace {

using empty_kernel::Check;
using empty_kernel::Find;
using Clock = std::chrono::steady_clock;

// cuDeviceGetCount, cuLaunchKernel (cupti_driver_cbid.h).
constexpr CUpti_CallbackId kGetCount = 4, kLaunchKernel = 307;
constexpr auto kBetween = std::chrono::microseconds(100);

struct Options {
  bool call = false;
  int pause_us = 0, threads = 4;
  std::string runtime;
};

std::atomic<bool> g_ended{false};
std::atomic<std::int64_t> g_launches{0}, g_callbacks{0};

void CUPTIAPI OnCall(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) { ++g_callbacks; }

class Place {
 public:
  Place(void* cupti, void* cuda, const Options& options)
      : options_(options),
        subscribe_(Find<decltype(cuptiSubscribe)>(cupti, "cuptiSubscribe")),
        unsubscribe_(Find<decltype(cuptiUnsubscribe)>(cupti, "cuptiUnsubscribe")),
        enable_(Find<decltype(cuptiEnableCallback)>(cupti, "cuptiEnableCallback")),
        get_count_(Find<decltype(cuDeviceGetCount)>(cuda, "cuDeviceGetCount")) {}

  // Returns how long it was taken, in nanoseconds.
  std::int64_t Hold() const {
    const auto begin = Clock::now();
    CUpti_SubscriberHandle subscriber = nullptr;
    Check(subscribe_(&subscriber, reinterpret_cast<CUpti_CallbackFunc>(OnCall), nullptr),
          "cuptiSubscribe");
    if (options_.call) {
      Check(enable_(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, kGetCount), "cuptiEnableCallback");
      int count = 0;
      Check(get_count_(&count), "cuDeviceGetCount");
      Check(enable_(0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, kGetCount), "cuptiEnableCallback");
    }
    if (options_.pause_us != 0)
      std::this_thread::sleep_for(std::chrono::microseconds(options_.pause_us));
    Check(unsubscribe_(subscriber), "cuptiUnsubscribe");
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
  }

 private:
  Options options_;
  decltype(cuptiSubscribe)* subscribe_;
  decltype(cuptiUnsubscribe)* unsubscribe_;
  decltype(cuptiEnableCallback)* enable_;
  decltype(cuDeviceGetCount)* get_count_;
};

void Record(void* cupti) {
  activity_buffers::Register(cupti, [](const CUpti_Activity*) {});
  Check(Find<decltype(cuptiActivityEnable)>(
            cupti, "cuptiActivityEnable")(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
        "cuptiActivityEnable");
  Check(Find<CUptiResult(CUpti_CallbackId, std::uint8_t)>(cupti, "cuptiActivityEnableDriverApi")(
            kLaunchKernel, 1),
        "cuptiActivityEnableDriverApi");
}

void Work(const empty_kernel::Gpu& gpu) {
  while (!g_ended) {
    for (int i = 0; i < 100; ++i) gpu.launch();
    g_launches += 100;
    gpu.wait();
  }
}

bool Parse(const std::string& word, Options* options) {
  if (word == "call") return options->call = true;
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return false;
  const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
  if (name == "pause") options->pause_us = std::atoi(value.c_str());
  if (name == "threads") options->threads = std::atoi(value.c_str());
  if (name == "runtime") options->runtime = value;
  return name == "pause" || name == "threads" || name == "runtime";
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bool understood = argc >= 3;
  for (int i = 3; i < argc; ++i) understood &= Parse(argv[i], &options);
  if (!understood) {
    std::fprintf(stderr,
                 "usage: cupti_subscribe LIBCUPTI SECONDS [call] [pause=US] [runtime=LIBCUDART] "
                 "[threads=N]\n");
    return 2;
  }
  const empty_kernel::Gpu gpu = options.runtime.empty()
                                    ? empty_kernel::ThroughDriver()
                                    : empty_kernel::ThroughRuntime(options.runtime.c_str());
  gpu.launch();  // makes the context current
  void* cuda = empty_kernel::Open("libcuda.so.1");
  void* cupti = empty_kernel::Open(argv[1]);
  CUcontext context;
  Check(Find<decltype(cuCtxGetCurrent)>(cuda, "cuCtxGetCurrent")(&context), "cuCtxGetCurrent");
  auto* set_current = Find<CUresult(CUcontext)>(cuda, "cuCtxSetCurrent");
  Record(cupti);
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i) {
    threads.emplace_back([&] {
      Check(set_current(context), "cuCtxSetCurrent");
      Work(gpu);
    });
  }
  const Place place(cupti, cuda, options);
  std::vector<std::int64_t> held_ns;
  const auto begin = Clock::now();
  while (Clock::now() - begin < std::chrono::seconds(std::atoi(argv[2]))) {
    held_ns.push_back(place.Hold());
    std::this_thread::sleep_for(kBetween);
  }
  g_ended = true;
  for (std::thread& thread : threads) thread.join();
  std::sort(held_ns.begin(), held_ns.end());
  std::printf(
      "%zu times, %lld callbacks, %lld launches; the place was taken for %.1f us, at most %.1f\n",
      held_ns.size(), static_cast<long long>(g_callbacks), static_cast<long long>(g_launches),
      static_cast<double>(held_ns[held_ns.size() / 2]) / 1e3,
      static_cast<double>(held_ns.back()) / 1e3);
}
