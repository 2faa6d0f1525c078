// SPDX-License-Identifier: Apache-2.0
// Limits that its control groups set to this process, as batch systems and containers do. One holds
// for all groups below: without a namespace of its own a process is deep in the tree, and the limit
// may be that of any group above. Both versions (Linux, Documentation/admin-guide/cgroup-v2.rst,
// cgroup-v1/memory.rst and scheduler/sched-bwc.rst), mounted below /sys/fs/cgroup. Each function
// returns the tightest limit; nothing: there is none, or none that can be read.
//
// `root` stands before /proc and /sys: empty, or a folder of a test.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace traceinject {

// So much processor time in each period.
struct CpuQuota {
  std::int64_t quota_us = 0, period_us = 0;

  double processors() const {
    return static_cast<double>(quota_us) / static_cast<double>(period_us);
  }
};
std::optional<CpuQuota> ReadCpuQuota(const std::string& root);

std::optional<std::int64_t> ReadMemoryLimitBytes(const std::string& root);

}  // namespace traceinject
