// SPDX-License-Identifier: Apache-2.0
#include "analyzer/doctor/present_machine.h"

#include <charconv>
#include <string_view>

#include "analyzer/metrics/machine/machine_checks.h"
#include "machine/nvml_devices.h"
#include "machine/proc_files.h"
#include "machine/system_facts.h"

namespace traceinject {
namespace {

void Append(std::vector<SystemFactRow> rows, std::vector<SystemFact>& facts) {
  for (SystemFactRow& row : rows) {
    facts.push_back(
        {std::move(row.kind), std::move(row.key), std::move(row.value), std::move(row.reason)});
  }
}

void AppendEnvironment(const char* const* environment, std::vector<SystemFact>& facts) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos && equals > 0)
      facts.push_back(
          {"env", std::string(entry.substr(0, equals)), std::string(entry.substr(equals + 1)), {}});
  }
}

// Display and 3D controllers of the maker's.
int CountCards(const std::string& root) {
  constexpr std::string_view kNvidia = "0x10de", kDisplay = "0x03";
  const std::string folder = root + "/sys/bus/pci/devices";
  int count = 0;
  for (const std::string& place : ListFolder(folder).value_or(std::vector<std::string>())) {
    const auto vendor = ReadTextFile(folder + "/" + place + "/vendor");
    const auto kind = ReadTextFile(folder + "/" + place + "/class");
    count += vendor && kind && TrimEnd(*vendor) == kNvidia && kind->starts_with(kDisplay);
  }
  return count;
}

int NumberFact(const std::vector<SystemFact>& facts, const std::string& key) {
  int value = -1;
  for (const SystemFact& fact : facts) {
    if (fact.kind == "gpu" && fact.key == key && fact.reason.empty())
      std::from_chars(fact.value.data(), fact.value.data() + fact.value.size(), value);
  }
  return value;
}

// Nothing of clocks and of what holds them down: that is known under load only.
void FillTelemetry(const DeviceSlowSampleRow& row, const std::vector<SystemFact>& facts,
                   proto::Telemetry& to) {
  const std::string prefix = std::to_string(row.device) + ".";
  const int generation = NumberFact(facts, prefix + "pcie_generation_most");
  const int width = NumberFact(facts, prefix + "pcie_width_most");
  if (row.pcie_generation > 0 && row.pcie_width > 0 && generation > 0 && width > 0) {
    to.set_pcie_generation(static_cast<int>(row.pcie_generation));
    to.set_pcie_width(static_cast<int>(row.pcie_width));
    to.set_pcie_generation_most(generation);
    to.set_pcie_width_most(width);
  }
  if (row.pcie_replays >= 0) to.set_pcie_replays(row.pcie_replays);
  if (row.ecc_corrected >= 0) to.set_ecc_corrected(row.ecc_corrected);
  if (row.ecc_uncorrected >= 0) to.set_ecc_uncorrected(row.ecc_uncorrected);
  for (const std::int64_t errors :
       {row.nvlink_replays, row.nvlink_recoveries, row.nvlink_crc_errors}) {
    if (errors >= 0) to.set_nvlink_errors(to.nvlink_errors() + errors);
  }
}

}  // namespace

PresentMachine LookAtMachine(const std::string& root, const char* const* environment) {
  PresentMachine machine;
  Append(ReadHostFacts(root), machine.facts);
  AppendEnvironment(environment, machine.facts);
  machine.cards = CountCards(root);
  const auto nvml = OpenNvml(&machine.nvml_failure);
  if (!nvml) return machine;
  const std::vector<DeviceRow> rows = ListNvmlDevices(*nvml);
  const NvmlDevices devices(*nvml, rows);
  for (const DeviceRow& row : rows) {
    DeviceRow place = row;
    place.pci_bus_id = PciPlace(row.pci_bus_id);  // NVML writes longer domains than /sys
    Append(ReadGpuPlaceFacts(root, place), machine.facts);
    Append(devices.Facts(row.device), machine.facts);
    PresentGpu& gpu = machine.gpus.emplace_back();
    gpu.number = row.device;
    gpu.name = row.name;
    gpu.pci_bus_id = row.pci_bus_id;
    if (const auto sample = devices.SampleSlow(row.device, 0))
      FillTelemetry(*sample, machine.facts, gpu.telemetry);
  }
  return machine;
}

std::string EnvironmentOf(const std::vector<SystemFact>& facts, std::string_view name) {
  for (const SystemFact& fact : facts) {
    if (fact.kind == "env" && fact.key == name) return fact.value;
  }
  return {};
}

}  // namespace traceinject
