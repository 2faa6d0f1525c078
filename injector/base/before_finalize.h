// SPDX-License-Identifier: Apache-2.0
// What has to be given back to CUPTI before another client takes it out of the process
// (cuptiFinalize): called on that client's thread.
#pragma once

#include <atomic>

namespace traceinject {

inline constinit std::atomic<void (*)() noexcept> g_before_finalize{nullptr};

}  // namespace traceinject
