// SPDX-License-Identifier: Apache-2.0
// The activity kinds that can be recorded, by the names used in TRACEINJECT_KINDS.
//
// Which of them are on by default is decided by measurement (tests/gpu/results/cost.md): a kind
// that costs time on every launch is opt-in.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

#include "injector/options/activity_kind_names.h"

namespace traceinject {

struct ActivityKind {
  std::string_view name;
  CUpti_ActivityKind
      kind;  // INVALID: the allow-listed calls (allow_list.h), which are enabled one by one
};

inline constexpr ActivityKind kActivityKinds[] = {
    {"kernel", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
    {"memcpy", CUPTI_ACTIVITY_KIND_MEMCPY},
    {"memcpy2", CUPTI_ACTIVITY_KIND_MEMCPY2},
    {"memset", CUPTI_ACTIVITY_KIND_MEMSET},
    {"api", CUPTI_ACTIVITY_KIND_INVALID},
    {"memory", CUPTI_ACTIVITY_KIND_MEMORY2},
    {"stream", CUPTI_ACTIVITY_KIND_STREAM},
    {"synchronization", CUPTI_ACTIVITY_KIND_SYNCHRONIZATION},
    {"overhead", CUPTI_ACTIVITY_KIND_OVERHEAD},
    {"cuda_event", CUPTI_ACTIVITY_KIND_CUDA_EVENT},
};

// Every name of the option is a kind, in the same order.
static_assert(std::size(kActivityKinds) == std::size(kActivityKindNames));
static_assert([] {
  for (std::size_t i = 0; i < std::size(kActivityKinds); ++i) {
    if (kActivityKinds[i].name != kActivityKindNames[i]) return false;
  }
  return true;
}());

inline std::optional<ActivityKind> FindActivityKind(std::string_view name) {
  for (const ActivityKind& kind : kActivityKinds) {
    if (kind.name == name) return kind;
  }
  return std::nullopt;
}

}  // namespace traceinject
