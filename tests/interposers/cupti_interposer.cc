// SPDX-License-Identifier: Apache-2.0
// Stands in front of CUPTI's activity API as a tool does that only watches it: hands each call on,
// with its arguments.
#include <cupti.h>
#include <dlfcn.h>

#include <cstdint>

namespace {

// Who is linked with CUPTI may be opened so that RTLD_NEXT does not find it.
void* Next(const char* name) {
  void* next = dlsym(RTLD_NEXT, name);
  return next != nullptr ? next : dlsym(dlopen("libcupti.so.13", RTLD_LAZY | RTLD_LOCAL), name);
}

}  // namespace

#define PASS_ON(name, parameters, arguments)                                               \
  extern "C" __attribute__((visibility("default"))) CUptiResult CUPTIAPI name parameters { \
    using Function = CUptiResult parameters;                                               \
    static Function* const next = reinterpret_cast<Function*>(Next(#name));                \
    return next arguments;                                                                 \
  }

PASS_ON(cuptiActivityRegisterCallbacks,
        (CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete),
        (request, complete))
PASS_ON(cuptiActivityEnable, (CUpti_ActivityKind kind), (kind))
PASS_ON(cuptiActivityDisable, (CUpti_ActivityKind kind), (kind))
PASS_ON(cuptiActivityFlushAll, (std::uint32_t flag), (flag))
PASS_ON(cuptiActivityRegisterTimestampCallback, (CUpti_TimestampCallbackFunc callback), (callback))
PASS_ON(cuptiFinalize, (), ())
