// SPDX-License-Identifier: Apache-2.0
// What CUPTI leaves behind in a process when everything that was enabled is disabled again, without
// our library: the cost of a launch to the thread that makes it, in one state after another of one
// process. Prints a line a `measure`: the median and the lowest decile over blocks of launches, in
// ns a launch, and what was done since the line before.
//
// usage: cupti_residue LIBCUPTI [libcudart.so.N] [WORD...]    with a runtime library: launches
// through cudaLaunchKernel; without: cuLaunchKernel
//   +X, -X       turn on or off: a kind by its name in TRACEINJECT_KINDS, launches (the driver's
//                calls that launch), runtime_call (one call)
//   cuda         use CUDA for the first time, if no `measure` did
//   load register flush subscribe unsubscribe finalize    of CUPTI
//   measure
// Without words: each once, with CUDA in use before. What CUPTI did once may stay: compare orders
// in processes of their own.
#include <cupti.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "empty_kernel.h"
#include "injector/cupti/activity_kinds.h"

namespace {

using empty_kernel::Check;
using empty_kernel::Find;

constexpr int kBlocks = 160, kWarmUp = 20, kLaunches = 250;
constexpr std::size_t kBufferBytes = 1 << 20;

constexpr const char* kDefaultWords[] = {
    "measure",   "load",        "measure", "register",      "measure", "+memset",
    "measure",   "-memset",     "measure", "+runtime_call", "measure", "-runtime_call",
    "measure",   "+launches",   "measure", "-launches",     "measure", "+kernel",
    "measure",   "-kernel",     "measure", "flush",         "measure", "+kernel",
    "+launches", "measure",     "-kernel", "-launches",     "flush",   "measure",
    "subscribe", "unsubscribe", "measure", "finalize",      "measure", "register",
    "+kernel",   "measure",     "-kernel", "flush",         "measure", "finalize",
    "measure",
};

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

  // False: no such word.
  bool Do(std::string_view word) {
    if (word == "register") {
      Call<decltype(cuptiActivityRegisterCallbacks)>("cuptiActivityRegisterCallbacks", OnRequested,
                                                     OnCompleted);
    } else if (word == "flush") {
      Call<decltype(cuptiActivityFlushAll)>("cuptiActivityFlushAll", 1U);
    } else if (word == "finalize") {
      Call<decltype(cuptiFinalize)>("cuptiFinalize");
    } else if (word == "subscribe") {
      Call<decltype(cuptiSubscribe)>("cuptiSubscribe", &subscriber_,
                                     reinterpret_cast<CUpti_CallbackFunc>(OnCall), nullptr);
    } else if (word == "unsubscribe") {
      Call<decltype(cuptiUnsubscribe)>("cuptiUnsubscribe", subscriber_);
    } else {
      return word == "load" || Switch(word);
    }
    return true;
  }

 private:
  template <typename Function, typename... Arguments>
  void Call(const char* name, Arguments... arguments) const {
    Check(Find<Function>(library_, name)(arguments...), name);
  }

  bool Switch(std::string_view word) const {
    if (word.size() < 2 || (word[0] != '+' && word[0] != '-')) return false;
    const bool on = word[0] == '+';
    word.remove_prefix(1);
    if (word == "launches") {  // in the driver, as our library records them
      for (const CUpti_CallbackId launch : {307U, 652U})  // cuLaunchKernel, cuLaunchKernelEx
        Call<decltype(cuptiActivityEnableDriverApi)>("cuptiActivityEnableDriverApi", launch, on);
      return true;
    }
    if (word == "runtime_call") {  // cudaDeviceSynchronize
      Call<decltype(cuptiActivityEnableRuntimeApi)>("cuptiActivityEnableRuntimeApi", 165U, on);
      return true;
    }
    const auto found = traceinject::FindActivityKind(word);
    if (!found || found->kind == CUPTI_ACTIVITY_KIND_INVALID) return false;
    Call<decltype(cuptiActivityEnable)>(on ? "cuptiActivityEnable" : "cuptiActivityDisable",
                                        found->kind);
    return true;
  }

  void* library_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
};

void Measure(const empty_kernel::Gpu& gpu, const std::string& state) {
  std::vector<double> ns;
  for (int block = 0; block < kWarmUp + kBlocks; ++block) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i) gpu.launch();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    gpu.wait();
    if (block >= kWarmUp) ns.push_back(spent.count() / kLaunches);
  }
  std::sort(ns.begin(), ns.end());
  std::printf("%8.1f %8.1f %s\n", ns[ns.size() / 2], ns[ns.size() / 10], state.c_str());
}

class Player {
 public:
  Player(const char* cupti, const char* runtime) : cupti_path_(cupti), runtime_(runtime) {}

  void Do(const char* word) {
    if (word == std::string_view("measure")) {
      Measure(gpu(), done_);
      done_.clear();
      return;
    }
    done_ += std::string(" ") + word;
    if (word == std::string_view("cuda")) {
      gpu().launch();
      gpu().wait();
      return;
    }
    if (!cupti_) cupti_.emplace(cupti_path_);
    if (!cupti_->Do(word)) empty_kernel::Stop(word, "is no word");
  }

 private:
  const empty_kernel::Gpu& gpu() {
    if (!gpu_)
      gpu_ = runtime_ != nullptr ? empty_kernel::ThroughRuntime(runtime_)
                                 : empty_kernel::ThroughDriver();
    return *gpu_;
  }

  const char* cupti_path_;
  const char* runtime_;
  std::optional<Cupti> cupti_;
  std::optional<empty_kernel::Gpu> gpu_;
  std::string done_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: cupti_residue LIBCUPTI [libcudart.so.N] [WORD...]\n");
    return 2;
  }
  const char* const runtime =
      argc > 2 && std::string_view(argv[2]).find(".so") != std::string_view::npos ? argv[2]
                                                                                  : nullptr;
  std::vector<const char*> words(argv + (runtime != nullptr ? 3 : 2), argv + argc);
  if (words.empty()) words.assign(std::begin(kDefaultWords), std::end(kDefaultWords));
  Player player(argv[1], runtime);
  for (const char* const word : words) player.Do(word);
}
