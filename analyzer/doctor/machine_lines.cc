// SPDX-License-Identifier: Apache-2.0
#include "analyzer/doctor/machine_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "analyzer/common/text.h"
#include "analyzer/metrics/machine/device_checks.h"
#include "analyzer/metrics/machine/machine_checks.h"
#include "machine/proc_files.h"

namespace traceinject {
namespace {

// What a check that finds nothing rests on.
struct Basis {
  std::string_view check, kind;
  std::string_view key;     // of the fact; of a GPU what follows its number
  std::string_view proven;  // empty: the value is shown
  std::string (*show)(const std::string& value) = nullptr;  // null: as it is
};

// "23.54 GiB" of "24684096".
std::string GibibytesOf(const std::string& kib) {
  constexpr double kKibOfGib = 1024 * 1024;
  return fmt::format("{:.4g} GiB", static_cast<double>(WholeNumber(kib)) / kKibOfGib);
}

constexpr Basis kBases[] = {
    {"cpu_governor", "host", "cpu_governor", ""},
    {"shared_memory", "host", "shared_memory_kib", "", GibibytesOf},
    {"open_files", "host", "open_files_most", ""},
    {"persistence_off", "gpu", "persistence_mode", ""},
    {"numa_wrong", "gpu", "numa_node", "node {}, on which this process may run"},
    {"acs", "gpu", "acs", ""},
    {"nvlink_inactive", "nvlink", "", "all active, or no bridges"},
    {"p2p_off", "p2p", "", "to all others"},
};

constexpr std::string_view kCounters[] = {"ecc_uncorrected", "ecc_corrected", "pcie_replays",
                                          "nvlink_errors", "pcie_link"};

std::string GpuName(int number) { return fmt::format("GPU {}", number); }

// Findings of one check with one text, with what they are about.
using Findings = std::map<std::string_view, std::map<std::string, std::vector<std::string>>>;

Findings FindAll(const PresentMachine& machine) {
  MachineUse use;
  use.data_workers = use.several_ranks = true;
  use.trains = false;
  std::map<std::string, int> models;
  for (const PresentGpu& gpu : machine.gpus) {
    use.gpus.insert(PciPlace(gpu.pci_bus_id));
    ++models[gpu.name];
  }
  Findings found;
  for (const HygieneProof& proof : CheckMachine(machine.facts, use)) {
    std::vector<std::string>& subjects = found[proof.check][proof.text];
    if (proof.of == HygieneProof::Of::kGpu) subjects.push_back(GpuName(proof.gpu));
  }
  for (const PresentGpu& gpu : machine.gpus) {
    for (const HygieneProof& proof : CheckTelemetry(gpu.telemetry, "since the driver was loaded"))
      found[proof.check][proof.text].push_back(GpuName(gpu.number));
  }
  if (models.size() > 1) {
    std::vector<std::string> names;
    for (const auto& [name, count] : models) names.push_back(fmt::format("{} x {}", count, name));
    found["mixed_gpus"]["mixed GPU models: " + JoinFirst(names)];
  }
  return found;
}

void AddFindings(const HygieneCheck& check,
                 const std::map<std::string, std::vector<std::string>>& found, Checklist& lines) {
  const CheckStatus status =
      check.severity == HygieneSeverity::kFault ? CheckStatus::kFail : CheckStatus::kWarn;
  for (const auto& [text, subjects] : found) {
    lines.push_back({status, std::string(check.title),
                     subjects.empty() ? text : JoinFirst(subjects) + ": " + text,
                     std::string(check.change), std::string(check.source)});
  }
}

bool RestsOn(const SystemFact& fact, const Basis& basis) {
  if (fact.kind != basis.kind) return false;
  const std::size_t dot = fact.key.find('.');
  if (basis.kind == "gpu")
    return dot != std::string::npos && std::string_view(fact.key).substr(dot + 1) == basis.key;
  return basis.key.empty() || fact.key == basis.key;
}

// Nothing was found: because all is well, or because nothing is known. No line without such facts.
void AddQuiet(const HygieneCheck& check, const PresentMachine& machine, Checklist& lines) {
  const auto basis = std::find_if(std::begin(kBases), std::end(kBases),
                                  [&](const Basis& one) { return one.check == check.name; });
  if (basis == std::end(kBases)) return;
  std::set<std::string> values, reasons;
  for (const SystemFact& fact : machine.facts) {
    if (!RestsOn(fact, *basis)) continue;
    if (fact.reason.empty()) {
      values.insert(basis->show != nullptr ? basis->show(fact.value) : fact.value);
    } else {
      reasons.insert(fact.reason);
    }
  }
  const auto join = [](const std::set<std::string>& words) {
    return JoinFirst({words.begin(), words.end()}, 2);
  };
  if (!values.empty()) {
    const std::string text = join(values);
    lines.push_back({CheckStatus::kOk,
                     std::string(check.title),
                     basis->proven.empty() ? text : fmt::format(fmt::runtime(basis->proven), text),
                     {},
                     {}});
  } else if (!reasons.empty()) {
    lines.push_back({CheckStatus::kUnknown, std::string(check.title), join(reasons), {}, {}});
  }
}

// Counters of the cards, in one line where all of them are as they should be.
void AddCounters(const PresentMachine& machine, const Findings& found, Checklist& lines) {
  const bool quiet = std::none_of(std::begin(kCounters), std::end(kCounters),
                                  [&](std::string_view name) { return found.contains(name); });
  if (quiet && !machine.gpus.empty())
    lines.push_back({CheckStatus::kOk,
                     "GPU errors and PCIe lanes",
                     "no errors since the driver was loaded, and all lanes in use",
                     {},
                     {}});
}

}  // namespace

Checklist CheckPresentMachine(const PresentMachine& machine) {
  const Findings found = FindAll(machine);
  Checklist lines;
  for (const HygieneCheck& check : HygieneChecks()) {
    if (const auto one = found.find(check.name); one != found.end()) {
      AddFindings(check, one->second, lines);
    } else {
      AddQuiet(check, machine, lines);
    }
  }
  AddCounters(machine, found, lines);
  return lines;
}

}  // namespace traceinject
