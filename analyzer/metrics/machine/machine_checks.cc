// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/machine/machine_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "analyzer/common/units.h"
#include "analyzer/metrics/machine/cpu_list.h"

namespace traceinject {
namespace {

using Of = HygieneProof::Of;

// NCCL's documents ask for 1 GiB; Docker gives 64 MiB where nothing is said.
constexpr std::int64_t kLittleSharedKib = 1 << 20;
// 1,024 is what most systems give, and what "too many open files" comes of.
constexpr std::int64_t kFewOpenFiles = 4096;
constexpr std::int64_t kLittleLockedBytes = 1 << 30;

// Variables that close a way of NCCL when they have this value.
struct Closed {
  std::string_view name, value;
};
constexpr Closed kClosed[] = {{"NCCL_P2P_DISABLE", "1"},
                              {"NCCL_SHM_DISABLE", "1"},
                              {"NCCL_IB_DISABLE", "1"},
                              {"NCCL_P2P_LEVEL", "LOC"},
                              {"NCCL_NET_GDR_LEVEL", "LOC"}};

std::optional<std::int64_t> WholeNumber(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// "3.numa_node" -> 3 and "numa_node"; "3 0000:19:00.0" likewise.
struct GpuKey {
  int gpu;
  std::string_view name;
};
std::optional<GpuKey> SplitKey(std::string_view key) {
  const std::size_t end = key.find_first_of(". ");
  const std::optional<std::int64_t> gpu = WholeNumber(key.substr(0, end));
  if (end == std::string_view::npos || !gpu) return std::nullopt;
  return GpuKey{static_cast<int>(*gpu), key.substr(end + 1)};
}

class Checker {
 public:
  Checker(const std::vector<SystemFact>& facts, const MachineUse& use) : facts_(facts), use_(use) {
    for (const SystemFact& fact : facts) {
      if (fact.reason.empty() && fact.kind == "host") host_[fact.key] = fact.value;
      has_infiniband_ |= fact.kind == "infiniband" && fact.value.starts_with("ACTIVE");
    }
  }

  std::vector<HygieneProof> Check() {
    for (const SystemFact& fact : facts_) {
      if (!fact.reason.empty()) continue;
      if (fact.kind == "env") CheckVariable(fact);
      const std::optional<GpuKey> key = SplitKey(fact.key);
      if (!key) continue;
      if (fact.kind == "gpu") CheckGpu(key->gpu, key->name, fact.value);
      if (fact.kind == "nvlink") CountLink(key->gpu, fact.value);
      if (fact.kind == "p2p") CountPeer(key->gpu, key->name, fact.value);
    }
    TellLinks();
    TellPeers();
    CheckHost();
    return std::move(found_);
  }

 private:
  bool several_gpus() const { return use_.gpus.size() > 1; }

  void Add(Of of, int gpu, std::string_view check, std::string text) {
    found_.push_back({of, gpu, check, std::move(text)});
  }

  void CheckVariable(const SystemFact& fact) {
    const std::string set = fmt::format("{}={} is set", fact.key, fact.value);
    if (fact.key == "CUDA_LAUNCH_BLOCKING" && fact.value == "1")
      return Add(Of::kProcess, -1, "blocking_launches", set);
    if (fact.key == "TORCH_DISTRIBUTED_DEBUG" && fact.value == "DETAIL")
      return Add(Of::kProcess, -1, "debug_checks", set);
    const bool closed = std::any_of(std::begin(kClosed), std::end(kClosed), [&](const Closed& one) {
      return fact.key == one.name && fact.value == one.value;
    });
    if (closed && (use_.several_ranks || several_gpus()))
      Add(Of::kProcess, -1, "nccl_settings", set);
  }

  void CheckGpu(int gpu, std::string_view name, const std::string& value) {
    if (name == "persistence_mode" && value == "off")
      Add(Of::kGpu, gpu, "persistence_off", "persistence mode is off");
    if (name == "acs" && value.starts_with("on at ") && (several_gpus() || has_infiniband_))
      Add(Of::kGpu, gpu, "acs",
          fmt::format("Access Control Services (ACS) are on at the PCIe bridges above it: {}",
                      value.substr(6)));
    if (name == "numa_node") CheckNode(gpu, value);
  }

  void CheckNode(int gpu, const std::string& node) {
    const auto affinity = host_.find("cpu_affinity"), near = host_.find("numa_cpus." + node);
    if (affinity == host_.end() || near == host_.end()) return;
    const auto own = ParseCpuList(affinity->second), of_node = ParseCpuList(near->second);
    if (!own || !of_node || own->empty() || of_node->empty()) return;
    const std::string place =
        fmt::format("the GPU is on NUMA node {} (CPUs {})", node, near->second);
    if (!Overlap(*own, *of_node))
      return Add(Of::kGpu, gpu, "numa_wrong",
                 fmt::format("the process runs on CPUs {}; {}", affinity->second, place));
    if (use_.trains && OnOtherNodes(*own, near->first))
      Add(Of::kGpu, gpu, "numa_unbound",
          fmt::format("the process may run on CPUs {}, on several NUMA nodes; {}", affinity->second,
                      place));
  }

  bool OnOtherNodes(const std::vector<std::pair<int, int>>& own, const std::string& node) const {
    return std::any_of(host_.begin(), host_.end(), [&](const auto& fact) {
      if (!fact.first.starts_with("numa_cpus.") || fact.first == node) return false;
      const auto cpus = ParseCpuList(fact.second);
      return cpus && Overlap(own, *cpus);
    });
  }

  void CountLink(int gpu, const std::string& value) {
    ++links_[gpu].all;
    links_[gpu].active += value.starts_with("active") ? 1 : 0;
  }

  // Without bridges a card has links of which none is active.
  void TellLinks() {
    for (const auto& [gpu, links] : links_) {
      if (links.active > 0 && links.active < links.all)
        Add(Of::kGpu, gpu, "nvlink_inactive",
            fmt::format("{} of {} NVLink links are inactive", links.all - links.active, links.all));
    }
  }

  // Value: "read: ok, write: ok, NVLink: ...".
  void CountPeer(int gpu, std::string_view peer, std::string_view value) {
    constexpr std::string_view kRead = "read: ";
    if (!value.starts_with(kRead) || !use_.gpus.contains(PciPlace(peer))) return;
    const std::string_view status = value.substr(kRead.size(), value.find(',') - kRead.size());
    Peers& peers = peers_[gpu];
    ++peers.all;
    if (status == "ok" || status == "unknown") return;
    ++peers.without;
    peers.reason = status;
  }

  void TellPeers() {
    for (const auto& [gpu, peers] : peers_) {
      if (peers.without > 0)
        Add(Of::kGpu, gpu, "p2p_off",
            fmt::format("no peer-to-peer access to {} of the {} other GPUs of this host: {}",
                        peers.without, peers.all, peers.reason));
    }
  }

  std::optional<std::int64_t> HostNumber(std::string_view name) const {
    const auto fact = host_.find(name);
    return fact == host_.end() ? std::nullopt : WholeNumber(fact->second);
  }

  void CheckHost() {
    const auto governor = host_.find("cpu_governor");
    if (governor != host_.end() && governor->second != "performance")
      Add(Of::kHost, -1, "cpu_governor",
          fmt::format("the CPU frequency governor is {}", governor->second));
    const auto shared = HostNumber("shared_memory_kib");
    if ((use_.data_workers || several_gpus()) && shared && *shared < kLittleSharedKib)
      Add(Of::kHost, -1, "shared_memory",
          fmt::format("/dev/shm size is {}", FormatBytes(*shared * 1024)));
    const auto files = HostNumber("open_files_most");
    if (use_.data_workers && files && *files < kFewOpenFiles)
      Add(Of::kProcess, -1, "open_files",
          fmt::format("the limit on open files is {}", FormatCount(*files)));
    const auto locked = HostNumber("locked_memory_most");
    if (has_infiniband_ && locked && *locked < kLittleLockedBytes)
      Add(Of::kProcess, -1, "locked_memory",
          fmt::format("the limit on locked memory is {}, and there is InfiniBand or RoCE",
                      FormatBytes(*locked)));
  }

  struct Links {
    int active = 0, all = 0;
  };
  struct Peers {
    int without = 0, all = 0;
    std::string reason;
  };

  const std::vector<SystemFact>& facts_;
  const MachineUse& use_;
  bool has_infiniband_ = false;
  std::map<std::string, std::string, std::less<>> host_;
  std::map<int, Links> links_;
  std::map<int, Peers> peers_;
  std::vector<HygieneProof> found_;
};

}  // namespace

std::string PciPlace(std::string_view bus_id) {
  constexpr std::size_t kShort = sizeof "0000:00:00.0" - 1;
  while (bus_id.size() > kShort && bus_id.front() == '0') bus_id.remove_prefix(1);
  std::string text(bus_id);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

std::vector<HygieneProof> CheckMachine(const std::vector<SystemFact>& facts,
                                       const MachineUse& use) {
  return Checker(facts, use).Check();
}

}  // namespace traceinject
