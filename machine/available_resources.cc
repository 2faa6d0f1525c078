// SPDX-License-Identifier: Apache-2.0
#include "machine/available_resources.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "machine/cgroup.h"

namespace traceinject {
namespace {

// 0: unknown.
unsigned CountProcessorsToRunOn() {
  constexpr std::size_t kMost = std::size_t{1} << 16;
  // The kernel refuses a mask that is shorter than its own.
  for (std::size_t processors = CPU_SETSIZE; processors <= kMost; processors *= 2) {
    std::vector<cpu_set_t> mask(processors / CPU_SETSIZE);
    const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, mask.data()) == 0)
      return static_cast<unsigned>(CPU_COUNT_S(bytes, mask.data()));
    if (errno != EINVAL) break;
  }
  return 0;
}

}  // namespace

unsigned CountAvailableProcessors(const std::string& root) {
  const unsigned processors = std::max(1U, CountProcessorsToRunOn());
  const auto quota = ReadCpuQuota(root);
  if (!quota || quota->processors() >= processors) return processors;
  return static_cast<unsigned>(std::ceil(quota->processors()));
}

std::int64_t AvailableMemoryBytes(const std::string& root) {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  const std::int64_t machine = pages > 0 && page > 0 ? std::int64_t{pages} * page : 0;
  const auto limit = ReadMemoryLimitBytes(root);
  if (!limit) return machine;
  return machine == 0 ? *limit : std::min(machine, *limit);
}

}  // namespace traceinject
