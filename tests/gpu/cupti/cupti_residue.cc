// SPDX-License-Identifier: Apache-2.0
// What CUPTI leaves behind in a process when everything that was enabled is disabled again, without
// our library: the cost of a launch to the thread that makes it, in one state after another of one
// process. Prints a line a state: its name, and the median and the lowest decile over blocks of
// launches, in ns a launch.
//
// usage: cupti_residue LIBCUPTI [libcudart.so.N]    with a runtime library: launches through
// cudaLaunchKernel; without: cuLaunchKernel
#include <cupti.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "empty_kernel.h"

namespace {

using empty_kernel::Check;
using empty_kernel::Find;

constexpr int kBlocks = 160, kWarmUp = 20, kLaunches = 250;
constexpr std::size_t kBufferBytes = 1 << 20;

void CUPTIAPI OnRequested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = kBufferBytes;
  *max_records = 0;
}

void CUPTIAPI OnCompleted(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t) {
  std::free(buffer);
}

void CUPTIAPI OnCall(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

class Cupti {
 public:
  explicit Cupti(const char* path) : library_(empty_kernel::Open(path)) {}

  void Register() const {
    Check(Find<decltype(cuptiActivityRegisterCallbacks)>(
              library_, "cuptiActivityRegisterCallbacks")(OnRequested, OnCompleted),
          "cuptiActivityRegisterCallbacks");
  }
  void Kind(CUpti_ActivityKind kind, bool on) const {
    auto* enable = Find<decltype(cuptiActivityEnable)>(library_, "cuptiActivityEnable");
    auto* disable = Find<decltype(cuptiActivityDisable)>(library_, "cuptiActivityDisable");
    Check(on ? enable(kind) : disable(kind), "cuptiActivityEnable or Disable");
  }
  // Launches in the driver, as our library records them.
  void Call(bool on) const {
    auto* enable =
        Find<decltype(cuptiActivityEnableDriverApi)>(library_, "cuptiActivityEnableDriverApi");
    for (const CUpti_CallbackId launch : {307U, 652U})  // cuLaunchKernel, cuLaunchKernelEx
      Check(enable(launch, on ? 1 : 0), "cuptiActivityEnableDriverApi");
  }
  void RuntimeCall(bool on) const {
    auto* enable =
        Find<decltype(cuptiActivityEnableRuntimeApi)>(library_, "cuptiActivityEnableRuntimeApi");
    Check(enable(165, on ? 1 : 0), "cuptiActivityEnableRuntimeApi");  // cudaDeviceSynchronize
  }
  void Flush() const {
    Check(Find<decltype(cuptiActivityFlushAll)>(library_, "cuptiActivityFlushAll")(1),
          "cuptiActivityFlushAll");
  }
  void Finalize() const {
    Check(Find<decltype(cuptiFinalize)>(library_, "cuptiFinalize")(), "cuptiFinalize");
  }
  void Subscribe() {
    Check(Find<decltype(cuptiSubscribe)>(library_, "cuptiSubscribe")(
              &subscriber_, reinterpret_cast<CUpti_CallbackFunc>(OnCall), nullptr),
          "cuptiSubscribe");
  }
  void Unsubscribe() const {
    Check(Find<decltype(cuptiUnsubscribe)>(library_, "cuptiUnsubscribe")(subscriber_),
          "cuptiUnsubscribe");
  }

 private:
  void* library_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
};

void Measure(const empty_kernel::Gpu& gpu, const char* state) {
  std::vector<double> ns;
  for (int block = 0; block < kWarmUp + kBlocks; ++block) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i) gpu.launch();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    gpu.wait();
    if (block >= kWarmUp) ns.push_back(spent.count() / kLaunches);
  }
  std::sort(ns.begin(), ns.end());
  std::printf("%-28s %8.1f %8.1f\n", state, ns[ns.size() / 2], ns[ns.size() / 10]);
}

void MeasureAll(const empty_kernel::Gpu& gpu, const char* library) {
  constexpr auto kKernel = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  Measure(gpu, "before");
  Cupti cupti(library);
  Measure(gpu, "library loaded");
  cupti.Register();
  Measure(gpu, "callbacks registered");
  cupti.Kind(CUPTI_ACTIVITY_KIND_MEMSET, true);
  Measure(gpu, "memset on");
  cupti.Kind(CUPTI_ACTIVITY_KIND_MEMSET, false);
  Measure(gpu, "memset off");
  cupti.RuntimeCall(true);
  Measure(gpu, "one runtime call on");
  cupti.RuntimeCall(false);
  Measure(gpu, "runtime call off");
  cupti.Call(true);
  Measure(gpu, "driver launches on");
  cupti.Call(false);
  Measure(gpu, "driver launches off");
  cupti.Kind(kKernel, true);
  Measure(gpu, "kernels on");
  cupti.Kind(kKernel, false);
  Measure(gpu, "kernels off");
  cupti.Flush();
  Measure(gpu, "flushed");
  cupti.Kind(kKernel, true);
  cupti.Call(true);
  Measure(gpu, "kernels, launches on");
  cupti.Kind(kKernel, false);
  cupti.Call(false);
  cupti.Flush();
  Measure(gpu, "all off, flushed");
  cupti.Subscribe();
  cupti.Unsubscribe();
  Measure(gpu, "subscribed, unsubscribed");
  cupti.Finalize();
  Measure(gpu, "finalized");
  cupti.Register();
  cupti.Kind(kKernel, true);
  Measure(gpu, "kernels on again");
  cupti.Kind(kKernel, false);
  cupti.Flush();
  Measure(gpu, "kernels off again");
  cupti.Finalize();
  Measure(gpu, "finalized again");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: cupti_residue LIBCUPTI [libcudart.so.N]\n");
    return 2;
  }
  MeasureAll(argc == 3 ? empty_kernel::ThroughRuntime(argv[2]) : empty_kernel::ThroughDriver(),
             argv[1]);
}
