// SPDX-License-Identifier: Apache-2.0
// Threads of which a program needs none: where the system starts no more, since the processes of a
// user or of a container are limited, their work is done without.
#pragma once

#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace traceinject {

// Nothing: there is no thread for it.
template <typename Work>
std::optional<std::jthread> StartThread(Work work) {
  try {
    return std::jthread(std::move(work));
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace traceinject
