// SPDX-License-Identifier: Apache-2.0
#include "machine/cgroup.h"

#include <string_view>

#include "machine/proc_files.h"

namespace traceinject {
namespace {

// A tree of groups: where it is mounted, and the controller that it is of; empty: version 2.
struct Tree {
  std::string_view mount, controller;
};
constexpr Tree kTrees[] = {{"/sys/fs/cgroup", ""},
                           {"/sys/fs/cgroup/unified", ""},  // beside trees of version 1
                           {"/sys/fs/cgroup/memory", "memory"},
                           {"/sys/fs/cgroup/cpu", "cpu"}};

// Takes what is before the first `separator` away, and the separator.
std::string_view TakeUpTo(char separator, std::string_view& text) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return part;
}

bool Lists(std::string_view controllers, std::string_view controller) {
  if (controllers.empty()) return controller.empty();
  while (!controllers.empty()) {
    if (TakeUpTo(',', controllers) == controller) return true;
  }
  return false;
}

// The group of this process in a tree, from /proc/self/cgroup: lines "number:controllers:path".
// Empty for the topmost, and for one above what a namespace shows.
std::string GroupIn(std::string_view groups, std::string_view controller) {
  while (!groups.empty()) {
    std::string_view line = TakeUpTo('\n', groups);
    TakeUpTo(':', line);
    if (!Lists(TakeUpTo(':', line), controller)) continue;
    const bool shown = line.starts_with('/') && line.find("/..") == std::string_view::npos;
    return shown && line != "/" ? std::string(line) : std::string();
  }
  return {};
}

// Calls visit(folder) for the group of each tree that this process is in, and all above it.
template <typename Visit>
void ForEachGroup(const std::string& root, Visit visit) {
  const std::string groups = ReadTextFile(root + "/proc/self/cgroup").value_or(std::string());
  for (const Tree& tree : kTrees) {
    const std::string mount = root + std::string(tree.mount);
    // In a container without a namespace the path is the host's, and only the mount is there.
    for (std::string group = GroupIn(groups, tree.controller); !group.empty();
         group.resize(group.rfind('/')))
      visit(mount + group);
    visit(mount);
  }
}

std::int64_t NumberIn(const std::string& path) {
  return WholeNumber(TrimEnd(ReadTextFile(path).value_or(std::string())));
}

// "quota period", or "max period".
std::optional<CpuQuota> QuotaOf(const std::string& folder) {
  CpuQuota quota;
  if (const auto text = ReadTextFile(folder + "/cpu.max")) {
    std::string_view left = TrimEnd(*text);
    quota.quota_us = WholeNumber(TakeUpTo(' ', left));
    quota.period_us = WholeNumber(left);
  } else {
    quota = {NumberIn(folder + "/cpu.cfs_quota_us"), NumberIn(folder + "/cpu.cfs_period_us")};
  }
  if (quota.quota_us <= 0 || quota.period_us <= 0) return std::nullopt;
  return quota;
}

}  // namespace

std::optional<CpuQuota> ReadCpuQuota(const std::string& root) {
  std::optional<CpuQuota> tightest;
  ForEachGroup(root, [&](const std::string& folder) {
    const auto quota = QuotaOf(folder);
    if (quota && (!tightest || quota->processors() < tightest->processors())) tightest = quota;
  });
  return tightest;
}

std::optional<std::int64_t> ReadMemoryLimitBytes(const std::string& root) {
  // Version 1 writes the largest number of pages where there is no limit.
  constexpr std::int64_t kNone = std::int64_t{1} << 60;
  std::optional<std::int64_t> tightest;
  ForEachGroup(root, [&](const std::string& folder) {
    for (const char* file : {"/memory.max", "/memory.limit_in_bytes"}) {
      const std::int64_t bytes = NumberIn(folder + file);
      if (bytes > 0 && bytes < kNone && bytes < tightest.value_or(kNone)) tightest = bytes;
    }
  });
  return tightest;
}

}  // namespace traceinject
