// SPDX-License-Identifier: Apache-2.0
// getenv, by which NVTX and NCCL ask for their injection libraries (injector/environment).
#include <errno.h>
#include <stdlib.h>

#include "injector/base/exported.h"
#include "injector/environment/environment.h"

// Before this library's constructor has run, and for all that is not offered, this is the C
// library's (or that of a library preloaded after this one).
extern "C" TRACEINJECT_EXPORT char* getenv(const char* name) noexcept {
  char* set = traceinject::NextGetEnv()(name);
  const int saved_errno = errno;
  const char* offered = traceinject::OfferedVariable(
      name, set, __builtin_extract_return_addr(__builtin_return_address(0)));
  errno = saved_errno;
  return offered == nullptr ? set : const_cast<char*>(offered);
}
