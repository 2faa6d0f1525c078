// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/common/text.h"

namespace traceinject {
namespace {

// As Comparison.settings orders them.
constexpr std::string_view kKinds[] = {"gpu",         "job",      "program",
                                       "data loader", "software", "environment",
                                       "recorder",    "host",     "network"};

struct FactKind {
  std::string_view fact, kind;
};
constexpr FactKind kFactKinds[] = {
    {"env", "environment"}, {"option", "recorder"},    {"host", "host"},
    {"gpu", "gpu"},         {"infiniband", "network"}, {"nccl_net", "network"},
};

// Patterns of facts that any two runs may differ in and that change nothing.
constexpr std::string_view kPassing[] = {
    "RANK",
    "LOCAL_RANK",
    "GROUP_RANK",
    "ROLE_RANK",
    "MASTER_PORT",
    "TORCHELASTIC_*",
    "CUDA_INJECTION64_PATH",
    "NVTX_INJECTION64_PATH",
    "LD_PRELOAD",
    "TRACEINJECT_OUTPUT",
    "SLURM_JOB*",
    "SLURM_*ID",
    "pcie_generation",
    "nvtx_name",
};

// By place of the kind in kKinds, and name.
using SettingKey = std::pair<std::size_t, std::string>;
SettingKey SettingKeyOf(std::string_view kind, std::string_view name) {
  const auto place = std::find(std::begin(kKinds), std::end(kKinds), kind) - std::begin(kKinds);
  return {static_cast<std::size_t>(place), std::string(name)};
}

class Collector {
 public:
  void Add(std::string_view kind, std::string_view name, const std::string& value) {
    settings_[SettingKeyOf(kind, name)] = value;
  }
  template <typename T>
  void Add(std::string_view kind, std::string_view name, const std::optional<T>& value) {
    if (value) Add(kind, name, fmt::format("{}", *value));
  }
  std::vector<Setting> List() const {
    std::vector<Setting> list;
    for (const auto& [key, value] : settings_)
      list.push_back({std::string(kKinds[key.first]), key.second, value});
    return list;
  }

 private:
  std::map<SettingKey, std::string> settings_;
};

bool Passes(std::string_view name) {
  return std::any_of(std::begin(kPassing), std::end(kPassing),
                     [&](std::string_view pattern) { return MatchesGlob(name, pattern); });
}

void AddFacts(const Rank& rank, const Device& device, Collector& to) {
  const std::string own = fmt::format("{}.", device.ordinal);
  for (const SystemFact& fact : rank.facts) {
    const auto known = std::find_if(std::begin(kFactKinds), std::end(kFactKinds),
                                    [&](const FactKind& kind) { return kind.fact == fact.kind; });
    if (known == std::end(kFactKinds) || fact.value.empty()) continue;
    std::string name = fact.key;
    if (fact.kind == "gpu") {
      if (!name.starts_with(own)) continue;
      name.erase(0, own.size());
    }
    if (!Passes(name)) to.Add(known->kind, name, fact.value);
  }
}

void AddLoaders(const ComparedRun& side, Collector& to) {
  int number = 0;
  for (const proto::DataLoader& loader : side.report.data_loaders()) {
    if (loader.source() != side.device().source() || !loader.has_workers()) continue;
    ++number;
    const std::string suffix = number > 1 ? fmt::format(" of loader {}", number) : "";
    to.Add("data loader", "num_workers" + suffix, std::optional(loader.workers()));
    to.Add("data loader", "pin_memory" + suffix, std::optional(loader.pin_memory()));
    to.Add("data loader", "persistent_workers" + suffix,
           std::optional(loader.persistent_workers()));
    if (loader.has_prefetch_factor())
      to.Add("data loader", "prefetch_factor" + suffix, std::optional(loader.prefetch_factor()));
    if (loader.has_batch_size())
      to.Add("data loader", "batch_size" + suffix, std::optional(loader.batch_size()));
  }
}

}  // namespace

std::vector<Setting> SettingsOf(const ComparedRun& side) {
  Collector found;
  if (side.model() == nullptr) return found.List();
  const Rank& rank = *side.rank();
  found.Add("gpu", "name", side.device().name());
  found.Add("gpu", "SMs", side.model()->sm_count);
  found.Add("gpu", "memory_bytes", side.model()->memory_bytes);
  found.Add("job", "processes recorded", std::optional(side.report.sources_size()));
  found.Add("job", "GPUs recorded", std::optional(side.report.devices_size()));
  found.Add("job", "world_size", rank.process.world_size);
  if (side.report.run().samples().has_per_step())
    found.Add("job", "samples per step", std::optional(side.report.run().samples().per_step()));
  found.Add("program", "command_line", rank.process.command_line);
  found.Add("program", "executable", rank.process.executable);
  found.Add("program", "launcher", rank.process.launcher);
  found.Add("software", "driver (CUDA)", rank.process.driver_version);
  found.Add("software", "CUDA runtime", rank.process.runtime_version);
  found.Add("software", "CUPTI", rank.process.cupti_version);
  found.Add("software", "NCCL", rank.process.nccl_version);
  found.Add("recorder", "version", rank.tool_version);
  found.Add("recorder", "recorded by",
            rank.imported_from.empty() ? "libtraceinject.so" : rank.imported_from);
  found.Add("host", "name", rank.process.host);
  AddFacts(rank, *side.model(), found);
  AddLoaders(side, found);
  return found.List();
}

std::vector<proto::SettingChange> ChangedSettings(const std::vector<Setting>& before,
                                                  const std::vector<Setting>& after) {
  std::map<SettingKey, proto::SettingChange> changes;
  for (const Setting& setting : before)
    changes[SettingKeyOf(setting.kind, setting.name)].set_before(setting.value);
  for (const Setting& setting : after)
    changes[SettingKeyOf(setting.kind, setting.name)].set_after(setting.value);
  std::vector<proto::SettingChange> changed;
  for (auto& [key, change] : changes) {
    if (change.before() == change.after()) continue;
    change.set_kind(std::string(kKinds[key.first]));
    change.set_name(key.second);
    changed.push_back(std::move(change));
  }
  return changed;
}

void CompareSettings(const ComparedRun& before, const ComparedRun& after, proto::Comparison& to) {
  for (proto::SettingChange& change : ChangedSettings(SettingsOf(before), SettingsOf(after)))
    *to.add_settings() = std::move(change);
}

}  // namespace traceinject
