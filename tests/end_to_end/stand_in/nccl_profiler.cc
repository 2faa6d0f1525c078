// SPDX-License-Identifier: Apache-2.0
// libnccl-profiler.so: a profiler plug-in of somebody else, which NCCL loads by its default name.
// It says that it was asked, and profiles nothing. libnccl-net.so: the same in a net plug-in.
#include <cstdio>

#include "injector/nccl/profiler_abi.h"

#ifndef PROFILER
#define PROFILER ncclProfiler_v5
#endif

namespace {

int Init(void** context, std::uint64_t, int*, const char*, int, int, int, void*) {
  *context = nullptr;
  std::puts("their plug-in");
  return 1;  // NCCL goes on without it
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) constinit traceinject::nccl_abi::ProfilerV5 PROFILER = {
    "theirs", Init, nullptr, nullptr, nullptr, nullptr};
}
