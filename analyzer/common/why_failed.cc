// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/why_failed.h"

#include <new>
#include <system_error>

namespace traceinject {

std::string WhyFailed(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return "not enough memory; a limit may be set (ulimit -v, or that of the container or job)";
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
    return "no more threads can be started; raise the limit of processes (ulimit -u, or pids.max "
           "of the container)";
  return error.what();
}

}  // namespace traceinject
