// SPDX-License-Identifier: Apache-2.0
// The lever that binds the process, its threads, and the processes that it starts to processors.
#pragma once

#include <sched.h>

#include <optional>
#include <string>
#include <string_view>

#include "injector/options/try_list.h"

namespace traceinject {

// "0-3,8", as taskset writes it; empty: it is no such list, or names a processor that a cpu_set_t
// cannot hold.
std::optional<cpu_set_t> ParseProcessors(std::string_view list);

// Of lists with '/' between them that of a rank on its host, over again where there are more ranks.
std::string_view ListOfRank(std::string_view lists, int local_rank);

// Before the process has other threads. What came of it is told (tried.h).
void BindToProcessors(const TryWish& wish);

}  // namespace traceinject
