// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/rpd/gpu_numbers.h"

#include <fmt/format.h>

#include <set>

namespace traceinject {
namespace {

// The same for the same GPU in several processes. Without an id, a GPU of each process.
std::string GpuKey(std::size_t rank, const Device& device) {
  return device.uuid.empty() ? fmt::format("{} {}", rank, device.ordinal) : device.uuid;
}

// GPUs of one machine.
struct Machine {
  std::map<std::string, int> ordinals;  // by key
  std::vector<std::string> keys;        // as they were met
  bool alike = false;                   // two of them have one ordinal

  void Add(const std::string& key, int ordinal) {
    const auto [entry, is_new] = ordinals.try_emplace(key, ordinal);
    if (!is_new) {
      alike |= entry->second != ordinal;
      return;
    }
    for (const std::string& other : keys) alike |= ordinals.at(other) == ordinal;
    keys.push_back(key);
  }
  int NumberOf(const std::string& key) const {
    if (!alike) return ordinals.at(key);
    int number = 0;
    while (keys[static_cast<std::size_t>(number)] != key) ++number;
    return number;
  }
};

}  // namespace

GpuNumbers::GpuNumbers(const Run& run) {
  std::map<std::string, int> hosts;
  std::vector<Machine> machines;
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    const std::string& host = run.ranks[rank].process.host;
    const auto [entry, is_new] = hosts.try_emplace(host, static_cast<int>(machines.size()));
    if (is_new) machines.emplace_back();
    nodes_.push_back(entry->second);
    Machine& machine = machines[static_cast<std::size_t>(entry->second)];
    for (const Device& device : run.ranks[rank].devices)
      machine.Add(GpuKey(rank, device), device.ordinal);
  }
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    const Machine& machine = machines[static_cast<std::size_t>(nodes_[rank])];
    gpus_.emplace_back();
    for (const Device& device : run.ranks[rank].devices)
      gpus_.back().push_back(machine.NumberOf(GpuKey(rank, device)));
  }
}

}  // namespace traceinject
