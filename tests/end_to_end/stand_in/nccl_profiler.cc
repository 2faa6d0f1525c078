// SPDX-License-Identifier: Apache-2.0
// libnccl-profiler.so: a profiler plug-in of somebody else, which NCCL loads by its default name.
// It says that it was asked, and profiles nothing.
#include <cstdio>

#include "injector/nccl/profiler_abi.h"

namespace {

int Init(void** context, std::uint64_t, int*, const char*, int, int, int, void*) {
  *context = nullptr;
  std::puts("their plug-in");
  return 1;  // NCCL goes on without it
}

}  // namespace

extern "C" {
__attribute__((
    visibility("default"))) constinit traceinject::nccl_abi::ProfilerV5 ncclProfiler_v5 = {
    "theirs", Init, nullptr, nullptr, nullptr, nullptr};
}
