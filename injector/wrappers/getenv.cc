// SPDX-License-Identifier: Apache-2.0
// getenv, by which NVTX and NCCL ask for their injection libraries (injector/environment).
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include <atomic>

#include "injector/base/exported.h"
#include "injector/base/linker_symbol.h"
#include "injector/environment/environment.h"

namespace {

using GetEnv = char*(const char*);

// Does not allocate: allocators read the environment when they are first used.
GetEnv* NextGetEnv() {
  static constinit std::atomic<GetEnv*> g_next{nullptr};
  GetEnv* next = g_next.load(std::memory_order_relaxed);
  if (next == nullptr) {
    next = reinterpret_cast<GetEnv*>(traceinject::FindSymbol(RTLD_NEXT, "getenv"));
    g_next.store(next, std::memory_order_relaxed);
  }
  return next;
}

}  // namespace

// Before this library's constructor has run, and for all that is not offered, this is the C
// library's (or that of a library preloaded after this one).
extern "C" TRACEINJECT_EXPORT char* getenv(const char* name) noexcept {
  char* set = NextGetEnv()(name);
  const int saved_errno = errno;
  const char* offered = traceinject::OfferedVariable(
      name, set, __builtin_extract_return_addr(__builtin_return_address(0)));
  errno = saved_errno;
  return offered == nullptr ? set : const_cast<char*>(offered);
}
