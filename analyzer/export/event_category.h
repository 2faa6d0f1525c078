// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "analyzer/export/host_events.h"
#include "analyzer/model/run.h"

namespace traceinject {

// What kind of thing an event is, for programs that choose and color by it.
struct EventCategory {
  std::string_view own;
  std::string_view kineto;  // as torch.profiler has it, which knows fewer
};

EventCategory CategoryOf(const Rank& rank, const HostEvent& event);
EventCategory CategoryOf(OpKind kind);

}  // namespace traceinject
