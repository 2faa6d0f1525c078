// SPDX-License-Identifier: Apache-2.0
#include "injector/preload/environment.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "injector/core/options.h"
#include "injector/nccl/log_name.h"
#include "injector/preload/exported.h"

extern "C" int InitializeInjection(void);

namespace traceinject {
namespace {

constexpr char kCudaSlot[] = "CUDA_INJECTION64_PATH";
constexpr char kNvtxSlot[] = "NVTX_INJECTION64_PATH";
constexpr char kNcclSlot[] = "NCCL_PROFILER_PLUGIN";
// NCCL then looks for a plug-in among the symbols of the process itself.
constexpr char kNcclStatic[] = "STATIC_PLUGIN";

// The absolute path of this library. LD_PRELOAD may have a relative one, and the program may change
// its folder.
const char* OwnPath(char* buffer) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&InitializeInjection), &info) == 0 ||
      info.dli_fname == nullptr)
    return nullptr;
  return realpath(info.dli_fname, buffer);
}

// "none" is a common way to say that the slot is free.
bool IsFree(const char* value) {
  return value == nullptr || value[0] == '\0' || strcmp(value, "none") == 0;
}

// False: this process shall not be recorded.
bool PublishEntryPoints() {
  if (IsSwitchedOff("TRACEINJECT")) return false;
  char buffer[PATH_MAX];
  const char* path = OwnPath(buffer);
  if (path == nullptr) return false;
  if (!IsFree(getenv(kCudaSlot)) && strcmp(getenv(kCudaSlot), path) != 0)
    return false;  // another tool's process: stay off
  if (IsFree(getenv(kCudaSlot))) setenv(kCudaSlot, path, 1);
  if (!IsSwitchedOff("TRACEINJECT_NVTX") && IsFree(getenv(kNvtxSlot))) setenv(kNvtxSlot, path, 1);
  // Any value is the user's will here, also "none".
  if (!IsSwitchedOff("TRACEINJECT_NCCL")) setenv(kNcclSlot, kNcclStatic, 0);
  return true;
}

}  // namespace

void PublishLibrary() {
  if (PublishEntryPoints() && IsSwitchedOn("TRACEINJECT_NCCL_LOG")) {
    PublishNcclLog();
  } else {
    WithdrawNcclLog();
  }
}

std::string ForeignInjection() {
  const char* value = getenv(kCudaSlot);
  if (IsFree(value)) return {};
  char buffer[PATH_MAX];
  const char* path = OwnPath(buffer);
  if (path == nullptr || strcmp(value, path) == 0) return {};
  return value;
}

}  // namespace traceinject

extern "C" __attribute__((constructor)) void TraceinjectLoaded() { traceinject::PublishLibrary(); }
