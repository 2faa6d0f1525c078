// SPDX-License-Identifier: Apache-2.0
// The names of the activity kinds in TRACEINJECT_KINDS, for what is built without CUPTI's headers.
// activity_kinds.h says what each is.
#pragma once

#include <string_view>

namespace traceinject {

inline constexpr std::string_view kActivityKindNames[] = {
    "kernel", "memcpy", "memcpy2",         "memset",   "api",
    "memory", "stream", "synchronization", "overhead", "cuda_event",
};

// For the help text; a test compares it with the names.
#define TRACEINJECT_ACTIVITY_KIND_NAMES                                                           \
  "kernel, memcpy, memcpy2 (between devices), memset, api, memory (allocations), stream "         \
  "(priorities); synchronization, overhead and cuda_event can be enabled to measure their cost, " \
  "but are not stored"

inline constexpr std::string_view kDefaultActivityKinds = "kernel,memcpy,memcpy2,memset,api";

}  // namespace traceinject
