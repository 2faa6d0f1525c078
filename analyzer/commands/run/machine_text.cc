// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/run/machine_text.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string_view>

#include "analyzer/common/text.h"
#include "analyzer/metrics/report/printable.h"

namespace traceinject {
namespace {

struct Phrase {
  std::string_view name;  // of the fact
  std::string_view words;
};

constexpr Phrase kHostPhrases[] = {{"kernel", "Linux {}"},
                                   {"nvidia_driver", "driver {}"},
                                   {"cpu_model", "{}"},
                                   {"cpus_online", "CPUs {}"},
                                   {"cpu_affinity", "this process may run on {}"},
                                   {"cpu_quota", "quota {}"},
                                   {"cpu_governor", "governor {}"},
                                   {"numa_nodes", "NUMA nodes {}"},
                                   {"transparent_huge_pages", "huge pages {}"},
                                   {"iommu", "IOMMU {}"}};
constexpr Phrase kGpuPhrases[] = {{"numa_node", "NUMA node {}"},
                                  {"persistence_mode", "persistence {}"},
                                  {"ecc", "ECC {}"},
                                  {"mig", "MIG {}"},
                                  {"acs", "ACS {}"},
                                  {"iommu_group_type", "IOMMU group {}"}};

// Facts of one thing by name.
using Named = std::map<std::string, std::string, std::less<>>;

void Append(std::string& text, const std::string& part) {
  if (!text.empty()) text += ", ";
  text += part;
}

void AppendPhrases(const Named& facts, const Phrase* begin, const Phrase* end, std::string& text) {
  for (const Phrase* phrase = begin; phrase != end; ++phrase) {
    const auto fact = facts.find(phrase->name);
    if (fact != facts.end())
      Append(text, fmt::format(fmt::runtime(phrase->words), Printable(fact->second)));
  }
}

std::string_view Find(const Named& facts, std::string_view name) {
  const auto fact = facts.find(name);
  return fact == facts.end() ? std::string_view("?") : std::string_view(fact->second);
}

// "PCIe 5 x16 of 5 x16": the best that was seen, and what card and board can do.
std::string GpuLine(const Named& facts) {
  std::string text;
  if (facts.contains("pcie_generation") || facts.contains("pcie_generation_most")) {
    text = fmt::format("PCIe {} x{} of {} x{}", Find(facts, "pcie_generation"),
                       Find(facts, "pcie_width"), Find(facts, "pcie_generation_most"),
                       Find(facts, "pcie_width_most"));
  }
  if (const auto limit = facts.find("power_limit_mw"); limit != facts.end())
    Append(text, fmt::format("{:.0f} W", std::strtod(limit->second.c_str(), nullptr) / 1000));
  AppendPhrases(facts, std::begin(kGpuPhrases), std::end(kGpuPhrases), text);
  return text;
}

struct LinkCount {
  int active = 0, all = 0;
};

class Machine {
 public:
  void Add(const Fact& fact) {
    if (!fact.reason.empty()) {
      Append(unknown_[fact.reason], fact.kind + " " + fact.key);
      return;
    }
    const std::size_t dot = fact.key.find('.'), space = fact.key.find(' ');
    if (fact.kind == "host") {
      host_[fact.key] = fact.value;
    } else if (fact.kind == "gpu" && dot != std::string::npos) {
      gpus_[fact.key.substr(0, dot)][fact.key.substr(dot + 1)] = fact.value;
    } else if (fact.kind == "nvlink" && dot != std::string::npos) {
      LinkCount& links = links_[fact.key.substr(0, dot)];
      ++links.all;
      links.active += fact.value.starts_with("active") ? 1 : 0;
    } else if (fact.kind == "p2p" && space != std::string::npos) {
      ++peers_[{fact.key.substr(0, space), fact.value}];
    } else if (fact.kind == "infiniband") {
      ports_[fact.key] = fact.value;
    } else if (fact.kind == "nccl_net") {
      AddNetwork(fact);
    }
  }

  std::string Text() const {
    TableText table;
    const auto add = [&](const std::string& what, const std::string& value) {
      if (!value.empty()) table.rows.push_back({Printable(what), Printable(value)});
    };
    std::string host;
    AppendPhrases(host_, std::begin(kHostPhrases), std::end(kHostPhrases), host);
    add("host", host);
    for (const auto& [device, facts] : gpus_) add("GPU " + device, GpuLine(facts));
    for (const auto& [device, links] : links_) {
      add("NVLink of " + device, fmt::format("{} of {} links active", links.active, links.all));
    }
    for (const auto& [peer, count] : peers_) {
      add("peers of " + peer.first,
          fmt::format("{} device{}: {}", count, count == 1 ? "" : "s", peer.second));
    }
    for (const auto& [port, value] : ports_) add("InfiniBand " + port, value);
    for (const auto& [adapter, facts] : networks_) add("NCCL adapter " + adapter, facts);
    for (const auto& [reason, names] : unknown_) add("unknown", names + ": " + reason);
    return table.rows.empty() ? "" : "  machine\n" + FormatTable(table, "    ");
  }

 private:
  // "<network>.<number>" is the adapter's name, and comes first.
  void AddNetwork(const Fact& fact) {
    constexpr std::string_view kGpuDirect = ".gpu_direct_rdma";
    if (!fact.key.ends_with(kGpuDirect)) return Append(networks_[fact.key], fact.value);
    const std::string adapter = fact.key.substr(0, fact.key.size() - kGpuDirect.size());
    Append(networks_[adapter], "GPUDirect RDMA " + fact.value);
  }

  Named host_, ports_, networks_, unknown_;
  std::map<std::string, Named> gpus_;
  std::map<std::string, LinkCount> links_;
  std::map<std::pair<std::string, std::string>, int> peers_;  // (device, what they can do) -> count
};

}  // namespace

std::string MachineText(const std::vector<Fact>& facts) {
  Machine machine;
  for (const Fact& fact : facts) machine.Add(fact);
  return machine.Text();
}

}  // namespace traceinject
