// SPDX-License-Identifier: Apache-2.0
#include "analyzer/doctor/container_checks.h"

#include <fmt/format.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/doctor/present_machine.h"
#include "machine/cgroup.h"
#include "machine/proc_files.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

constexpr char kLaunchers[] = "docs/launchers.md";

struct Mark {
  std::string_view file;      // that is there
  std::string_view variable;  // or that is set
  std::string_view cgroup;    // or that the first process is in one with this in its path
  std::string_view kind;
};
// Kubernetes first: its pods have the marks of their runtime, too.
constexpr Mark kMarks[] = {{"", "KUBERNETES_SERVICE_HOST", "kubepods", "Kubernetes"},
                           {"/.singularity.d", "APPTAINER_CONTAINER", "", "Apptainer"},
                           {"", "ENROOT_ROOTFS", "", "Enroot"},
                           {"/run/.containerenv", "", "libpod", "Podman"},
                           {"/.dockerenv", "", "docker", "Docker"},
                           {"", "container", "containerd", "container"}};

struct Capability {
  int bit;
  std::string_view name;
  std::string_view use;  // that a recording has for it
};
constexpr Capability kCapabilities[] = {
    {21, "SYS_ADMIN", "hardware counters where the driver reserves them for administrators"},
    {23, "SYS_NICE", "binding memory to a NUMA node"},
    {38, "PERFMON", "hardware counters, instead of SYS_ADMIN"}};

std::string TextOf(const std::string& path) {
  const auto text = ReadTextFile(path);
  return text ? std::string(TrimEnd(*text)) : std::string();
}

std::string MemoryLimit(const std::string& root) {
  const auto bytes = ReadMemoryLimitBytes(root);
  return bytes ? "memory up to " + FormatBytes(*bytes) : std::string();
}

std::string ProcessorLimit(const std::string& root) {
  const auto quota = ReadCpuQuota(root);
  if (!quota) return {};
  return fmt::format("{:.4g} processor{}", quota->processors(),
                     quota->processors() == 1 ? "" : "s");
}

std::string LackedCapabilities(const std::string& status) {
  const std::uint64_t held =
      std::strtoull(std::string(StatusValue(status, "CapEff")).c_str(), nullptr, 16);
  std::vector<std::string> lacked;
  for (const Capability& one : kCapabilities) {
    if ((held >> one.bit & 1) == 0) lacked.push_back(fmt::format("{} ({})", one.name, one.use));
  }
  return lacked.empty() ? std::string() : "without " + JoinFirst(lacked);
}

CheckLine WhatItIs(const std::string& kind, const std::string& root) {
  const std::string status = TextOf(root + "/proc/self/status");
  std::string text = kind;
  for (const std::string& part :
       {ProcessorLimit(root), MemoryLimit(root),
        std::string(StatusValue(status, "Seccomp") == "2" ? "system calls are filtered (seccomp)"
                                                          : ""),
        LackedCapabilities(status)}) {
    if (!part.empty()) text += "; " + part;
  }
  return {CheckStatus::kOk, "container", text, {}, {}};
}

// As the recorder reads stacks of its own process.
CheckLine ReadsStacks() {
  constexpr char kCheck[] = "reading stacks";
  int from = 1, to = 0;
  const iovec local = {&to, sizeof to}, remote = {&from, sizeof from};
  if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == sizeof to)
    return {CheckStatus::kOk, kCheck, "allowed", {}, {}};
  return {CheckStatus::kWarn, kCheck,
          fmt::format("the container withholds process_vm_readv: {}", std::strerror(errno)),
          "docker run --cap-add SYS_PTRACE, or a seccomp profile that allows it", kLaunchers};
}

// Nothing where it lies on a volume.
Checklist OutlivesContainer(const std::string& folder) {
  constexpr std::uint32_t kOverlay = 0x794C7630;  // OVERLAYFS_SUPER_MAGIC of linux/magic.h
  struct statfs told {};
  if (statfs(folder.c_str(), &told) != 0 || static_cast<std::uint32_t>(told.f_type) != kOverlay)
    return {};
  return {{CheckStatus::kWarn, "output folder",
           folder + " is in the container's own file system, and goes when the container does",
           "mount a volume, and set TRACEINJECT_OUTPUT to a file in it", kLaunchers}};
}

}  // namespace

std::string ContainerKind(const std::string& root, const std::vector<SystemFact>& facts) {
  const std::string cgroup = TextOf(root + "/proc/1/cgroup");
  std::error_code error;
  for (const Mark& mark : kMarks) {
    if ((!mark.file.empty() && fs::exists(root + std::string(mark.file), error)) ||
        (!mark.variable.empty() && !EnvironmentOf(facts, mark.variable).empty()) ||
        (!mark.cgroup.empty() && cgroup.find(mark.cgroup) != std::string::npos))
      return std::string(mark.kind);
  }
  return {};
}

Checklist CheckContainer(const std::string& root, const std::vector<SystemFact>& facts,
                         const std::string& output_folder) {
  const std::string kind = ContainerKind(root, facts);
  if (kind.empty()) return {};
  Checklist lines = {WhatItIs(kind, root), ReadsStacks()};
  for (CheckLine& line : OutlivesContainer(output_folder)) lines.push_back(std::move(line));
  return lines;
}

Checklist CheckPreloaded(const std::vector<SystemFact>& facts) {
  constexpr char kCheck[] = "LD_PRELOAD";
  const std::string preloaded = EnvironmentOf(facts, "LD_PRELOAD");
  std::string_view left = preloaded;
  Checklist lines;
  bool is_ours = false;
  while (!left.empty()) {
    const std::string one(left.substr(0, left.find_first_of(": ")));
    left.remove_prefix(std::min(one.size() + 1, left.size()));
    std::error_code error;
    is_ours = is_ours || one.ends_with("/libtraceinject.so");
    if (one.find('/') == std::string::npos || fs::exists(one, error)) continue;
    lines.push_back({CheckStatus::kFail, kCheck, one + " is not there",
                     "mount the folder that holds it at this path, or set the variable inside of "
                     "the container alone",
                     kLaunchers});
  }
  if (lines.empty() && is_ours)
    lines.push_back({CheckStatus::kOk, kCheck, "programs started from here are recorded", {}, {}});
  return lines;
}

}  // namespace traceinject
