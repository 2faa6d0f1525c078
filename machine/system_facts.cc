// SPDX-License-Identifier: Apache-2.0
#include "machine/system_facts.h"

#include <errno.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

#include "machine/cgroup.h"
#include "machine/proc_files.h"

namespace traceinject {
namespace {

std::string Why(const std::string& path) { return path + ": " + std::strerror(errno); }

// Facts of one kind, in order.
class Facts {
 public:
  explicit Facts(std::string kind) : kind_(std::move(kind)) {}

  void Add(const std::string& key, std::string value) {
    rows_.push_back({kind_, key, std::move(value), {}});
  }
  void AddUnknown(const std::string& key, std::string reason) {
    rows_.push_back({kind_, key, {}, std::move(reason)});
  }
  // The whole of a file.
  void AddFile(const std::string& key, const std::string& path) {
    const auto text = ReadTextFile(path);
    if (text) {
      Add(key, std::string(TrimEnd(*text)));
    } else {
      AddUnknown(key, Why(path));
    }
  }

  std::vector<SystemFactRow> Take() { return std::move(rows_); }

 private:
  std::string kind_;
  std::vector<SystemFactRow> rows_;
};

// "always [madvise] never" -> "madvise".
std::string Chosen(std::string_view text) {
  const std::size_t begin = text.find('['), end = text.find(']');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
    return std::string(TrimEnd(text));
  return std::string(text.substr(begin + 1, end - begin - 1));
}

void AddHugePages(const std::string& root, Facts* facts) {
  const std::string path = root + "/sys/kernel/mm/transparent_hugepage/enabled";
  const auto text = ReadTextFile(path);
  if (text) {
    facts->Add("transparent_huge_pages", Chosen(*text));
  } else {
    facts->AddUnknown("transparent_huge_pages", Why(path));
  }
}

// All processors have the same as a rule: "performance", else "performance 60, powersave 4".
void AddGovernor(const std::string& root, Facts* facts) {
  const std::string folder = root + "/sys/devices/system/cpu";
  std::map<std::string, int> governors;
  std::string reason = "no CPU has cpufreq, as in most virtual machines";
  for (const std::string& name : ListFolder(folder).value_or(std::vector<std::string>())) {
    if (!name.starts_with("cpu") || WholeNumber(name.substr(3)) < 0) continue;
    const std::string path = folder + "/" + name + "/cpufreq/scaling_governor";
    const auto text = ReadTextFile(path);
    if (text) {
      ++governors[std::string(TrimEnd(*text))];
    } else if (errno != ENOENT) {
      reason = Why(path);
    }
  }
  if (governors.empty()) return facts->AddUnknown("cpu_governor", reason);
  std::string value;
  for (const auto& [governor, count] : governors) {
    value += (value.empty() ? "" : ", ") + governor;
    if (governors.size() > 1) value += " " + std::to_string(count);
  }
  facts->Add("cpu_governor", value);
}

void AddAffinity(const std::string& root, Facts* facts) {
  const std::string path = root + "/proc/self/status";
  const auto text = ReadTextFile(path);
  const std::string_view list = text ? StatusValue(*text, "Cpus_allowed_list") : "";
  if (list.empty()) return facts->AddUnknown("cpu_affinity", path + ": no Cpus_allowed_list");
  facts->Add("cpu_affinity", std::string(list));
}

// As in cpu.max: "quota period" in microseconds, or "max".
void AddQuota(const std::string& root, Facts* facts) {
  const std::string groups = root + "/proc/self/cgroup";
  if (const auto quota = ReadCpuQuota(root)) {
    facts->Add("cpu_quota",
               std::to_string(quota->quota_us) + " " + std::to_string(quota->period_us));
  } else if (ReadTextFile(groups)) {
    facts->Add("cpu_quota", "max");
  } else {
    facts->AddUnknown("cpu_quota", Why(groups));
  }
}

void AddIommu(const std::string& root, Facts* facts) {
  const std::string path = root + "/sys/class/iommu";
  const auto units = ListFolder(path);
  if (!units) return facts->AddUnknown("iommu", Why(path));
  facts->Add("iommu", units->empty() ? "off" : "on");
}

// Processors of each node, e.g. numa_cpus.1: "48-95".
void AddNodes(const std::string& root, Facts* facts) {
  const std::string folder = root + "/sys/devices/system/node";
  facts->AddFile("numa_nodes", folder + "/online");
  for (const std::string& name : ListFolder(folder).value_or(std::vector<std::string>())) {
    if (name.starts_with("node") && WholeNumber(name.substr(4)) >= 0)
      facts->AddFile("numa_cpus." + name.substr(4), folder + "/" + name + "/cpulist");
  }
}

// The size that is set for it; without one it is half of the memory.
void AddSharedMemory(const std::string& root, Facts* facts) {
  constexpr char kName[] = "shared_memory_kib";
  constexpr std::string_view kSize = "size=";
  const std::string path = root + "/proc/self/mounts";
  const auto mounts = ReadTextFile(path);
  if (!mounts) return facts->AddUnknown(kName, Why(path));
  // "tmpfs /dev/shm tmpfs rw,nosuid,size=65536k 0 0"; of several mounts the last one counts.
  const std::size_t place = mounts->rfind(" /dev/shm tmpfs ");
  if (place == std::string::npos)
    return facts->AddUnknown(kName, path + ": there is no tmpfs at /dev/shm");
  const std::string_view line = std::string_view(*mounts).substr(
      place, std::min(mounts->find('\n', place), mounts->size()) - place);
  if (const std::size_t size = line.find(kSize); size != std::string_view::npos) {
    const std::string_view value = line.substr(size + kSize.size());
    const std::string_view number = value.substr(0, value.find('k'));
    if (WholeNumber(number) >= 0) return facts->Add(kName, std::string(number));
    return facts->AddUnknown(kName, path + ": its size is not in KiB");
  }
  const auto memory = ReadTextFile(root + "/proc/meminfo");
  std::string_view total = memory ? StatusValue(*memory, "MemTotal") : "";
  total = total.substr(0, total.find(' '));
  if (WholeNumber(total) < 0) return facts->AddUnknown(kName, "neither its size nor MemTotal");
  facts->Add(kName, std::to_string(WholeNumber(total) / 2));
}

// What the process may have now, a number or "unlimited".
void AddLimit(const std::string& limits, std::string_view name, const std::string& key,
              Facts* facts) {
  const std::size_t line = limits.find(name);
  if (line == std::string::npos) return facts->AddUnknown(key, "not in /proc/self/limits");
  std::string_view rest = std::string_view(limits).substr(line + name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  facts->Add(key, std::string(rest.substr(0, rest.find(' '))));
}

void AddLimits(const std::string& root, Facts* facts) {
  const auto limits = ReadTextFile(root + "/proc/self/limits");
  AddLimit(limits.value_or(""), "Max open files", "open_files_most", facts);
  AddLimit(limits.value_or(""), "Max locked memory", "locked_memory_most", facts);
}

void AddCpuModel(const std::string& root, Facts* facts) {
  const std::string path = root + "/proc/cpuinfo";
  const auto text = ReadTextFile(path);
  if (!text) return facts->AddUnknown("cpu_model", Why(path));
  std::string_view rest = *text;
  const std::size_t line = rest.find("model name");
  if (line == std::string_view::npos)
    return facts->AddUnknown("cpu_model", path + ": no model name in it");
  rest.remove_prefix(rest.find(':', line) + 1);
  rest = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  facts->Add("cpu_model", std::string(rest));
}

void AddPort(const std::string& folder, const std::string& key, Facts* facts) {
  const auto state = ReadTextFile(folder + "/state");
  if (!state) return facts->AddUnknown(key, Why(folder + "/state"));
  // "4: ACTIVE" -> "ACTIVE"
  std::string value(TrimEnd(*state));
  if (const std::size_t colon = value.find(": "); colon != std::string::npos)
    value.erase(0, colon + 2);
  for (const char* name : {"/rate", "/link_layer"}) {
    if (const auto text = ReadTextFile(folder + name)) value += ", " + std::string(TrimEnd(*text));
  }
  facts->Add(key, value);
}

std::vector<SystemFactRow> ReadInfiniBand(const std::string& root) {
  Facts facts("infiniband");
  const std::string folder = root + "/sys/class/infiniband";
  for (const std::string& adapter : ListFolder(folder).value_or(std::vector<std::string>())) {
    const std::string ports = folder + "/" + adapter + "/ports";
    for (const std::string& port : ListFolder(ports).value_or(std::vector<std::string>()))
      AddPort(ports + "/" + port, adapter + "." + port, &facts);
    facts.AddFile(adapter + ".numa_node", folder + "/" + adapter + "/device/numa_node");
  }
  return facts.Take();
}

std::uint32_t LittleEndian(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = count; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

constexpr std::size_t kExtendedConfig = 0x100;  // where extended capabilities begin
constexpr std::size_t kPublicConfig = 64;       // what the kernel shows to everybody

// The control register of Access Control Services, extended capability 0x000D; -1: it has none.
int AcsControl(std::string_view config) {
  std::size_t at = kExtendedConfig;
  for (int hops = 0; hops < 64 && at >= kExtendedConfig && at + 8 <= config.size(); ++hops) {
    const std::uint32_t header = LittleEndian(config, at, 4);
    if ((header & 0xFFFF) == 0x000D) return static_cast<int>(LittleEndian(config, at + 6, 2));
    at = header >> 20;
  }
  return -1;
}

// Of the bridges above a device. `path` is its folder below /sys/devices, links resolved.
void AddAcs(const std::string& path, const std::string& key, Facts* facts) {
  std::string on;
  int bridges = 0;
  std::string bridge = path;
  for (;;) {
    bridge.erase(std::min(bridge.rfind('/'), bridge.size()));
    const auto config = ReadTextFile(bridge + "/config");
    if (!config) break;  // the host bridge: no function of its own
    ++bridges;
    if (config->size() <= kPublicConfig) {
      return facts->AddUnknown(key, "PCI configuration beyond 64 bytes is readable by root only");
    }
    const int control = AcsControl(*config);
    if (control <= 0) continue;
    char text[16];
    std::snprintf(text, sizeof text, " 0x%x", static_cast<unsigned>(control));
    on += (on.empty() ? "on at " : ", ") + bridge.substr(bridge.rfind('/') + 1) + text;
  }
  if (bridges == 0) return facts->AddUnknown(key, path + ": no bridge above it is visible");
  facts->Add(key, on.empty() ? "off" : on);
}

// PCI addresses are written with small letters in /sys.
std::string Lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

}  // namespace

std::vector<SystemFactRow> ReadHostFacts(const std::string& root) {
  Facts facts("host");
  facts.AddFile("kernel", root + "/proc/sys/kernel/osrelease");
  AddCpuModel(root, &facts);
  facts.AddFile("cpus_online", root + "/sys/devices/system/cpu/online");
  AddQuota(root, &facts);
  AddAffinity(root, &facts);
  AddGovernor(root, &facts);
  AddNodes(root, &facts);
  AddHugePages(root, &facts);
  AddIommu(root, &facts);
  AddSharedMemory(root, &facts);
  AddLimits(root, &facts);
  std::vector<SystemFactRow> rows = facts.Take();
  for (SystemFactRow& row : ReadInfiniBand(root)) rows.push_back(std::move(row));
  return rows;
}

std::vector<SystemFactRow> ReadGpuPlaceFacts(const std::string& root, const DeviceRow& device) {
  Facts facts("gpu");
  const std::string prefix = std::to_string(device.device) + ".";
  const std::string folder = root + "/sys/bus/pci/devices/" + Lower(device.pci_bus_id);
  const std::unique_ptr<char, void (*)(void*)> resolved(realpath(folder.c_str(), nullptr), free);
  if (device.pci_bus_id.empty() || resolved == nullptr) {
    const std::string reason = Why(folder);
    for (const char* name : {"numa_node", "iommu_group_type", "acs"})
      facts.AddUnknown(prefix + name, reason);
    return facts.Take();
  }
  const auto node = ReadTextFile(folder + "/numa_node");
  if (node && WholeNumber(TrimEnd(*node)) >= 0) {
    facts.Add(prefix + "numa_node", std::string(TrimEnd(*node)));
  } else {
    facts.AddUnknown(prefix + "numa_node",
                     node ? "not reported by the firmware" : Why(folder + "/numa_node"));
  }
  facts.AddFile(prefix + "iommu_group_type", folder + "/iommu_group/type");
  AddAcs(resolved.get(), prefix + "acs", &facts);
  return facts.Take();
}

}  // namespace traceinject
