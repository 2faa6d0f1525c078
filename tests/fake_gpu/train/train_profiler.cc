// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/train/train_profiler.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace traceinject::fake {

TrainProfiler::TrainProfiler(const std::string& steps, bool unseen, bool finalize)
    : finalize_(finalize) {
  std::istringstream text(steps);
  int first = 0, last = 0;
  for (char dash = 0, comma = 0; text >> first >> dash >> last; text >> comma)
    sessions_.emplace_back(first, last);
  if (sessions_.empty()) return;
  void* library =
      dlopen(unseen ? "libunseen_client.so" : "libprofiler_client.so", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "fake_train: %s\n", dlerror());
    std::exit(2);
  }
  start_ = reinterpret_cast<void (*)()>(dlsym(library, "profiler_start"));
  stop_ = reinterpret_cast<void (*)(const char*, bool)>(dlsym(library, "profiler_stop"));
}

void TrainProfiler::BeginStep(int step) {
  for (const auto& [first, last] : sessions_) {
    if (step == first) start_();
  }
}

void TrainProfiler::EndStep(int step) {
  const char* path = std::getenv("FAKE_GPU_PROFILE");
  for (const auto& [first, last] : sessions_) {
    if (step == last) cudaDeviceSynchronize();  // as PyTorch does
    if (step == last) stop_(path == nullptr ? "profile.jsonl" : path, finalize_);
  }
}

}  // namespace traceinject::fake
