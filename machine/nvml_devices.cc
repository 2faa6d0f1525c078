// SPDX-License-Identifier: Apache-2.0
#include "machine/nvml_devices.h"

#include <iterator>
#include <string_view>

namespace traceinject {
namespace {

constexpr char kMissing[] = "this driver has no function for it";

// bytes of a count of `unit` bytes; unknown stays unknown.
long long Bytes(long long count, long long unit) { return count < 0 ? -1 : count * unit; }

SystemFactRow Known(std::string kind, std::string key, std::string value) {
  return {std::move(kind), std::move(key), std::move(value), {}};
}

SystemFactRow Unknown(std::string kind, std::string key, std::string reason) {
  return {std::move(kind), std::move(key), {}, std::move(reason)};
}

// Facts of one device that NVML gives through functions of one kind.
class GpuFacts {
 public:
  GpuFacts(const NvmlLibrary& nvml, int device, nvml::Device handle,
           std::vector<SystemFactRow>* facts)
      : nvml_(nvml), prefix_(std::to_string(device) + "."), handle_(handle), facts_(facts) {}

  void AddNumber(const char* name, nvml::Return (*function)(nvml::Device, unsigned int*)) {
    unsigned int value = 0;
    Add(name, function == nullptr, function == nullptr ? 0 : function(handle_, &value),
        [&] { return std::to_string(value); });
  }

  void AddClock(const char* name, unsigned int clock) {
    unsigned int value = 0;
    const auto function = nvml_.DeviceGetMaxClockInfo;
    Add(name, function == nullptr, function == nullptr ? 0 : function(handle_, clock, &value),
        [&] { return std::to_string(value); });
  }

  void AddSwitch(const char* name, nvml::Return (*function)(nvml::Device, unsigned int*)) {
    unsigned int on = 0;
    Add(name, function == nullptr, function == nullptr ? 0 : function(handle_, &on),
        [&] { return on != 0 ? "on" : "off"; });
  }

  // Modes that change at the next restart: the present one.
  void AddMode(const char* name,
               nvml::Return (*function)(nvml::Device, unsigned int*, unsigned int*)) {
    unsigned int on = 0, pending = 0;
    Add(name, function == nullptr, function == nullptr ? 0 : function(handle_, &on, &pending),
        [&] { return on != 0 ? "on" : "off"; });
  }

 private:
  template <typename Value>
  void Add(const char* name, bool missing, nvml::Return result, Value value) {
    if (missing) {
      facts_->push_back(Unknown("gpu", prefix_ + name, kMissing));
    } else if (result != nvml::kSuccess) {
      facts_->push_back(Unknown("gpu", prefix_ + name, nvml_.Explain(result)));
    } else {
      facts_->push_back(Known("gpu", prefix_ + name, value()));
    }
  }

  const NvmlLibrary& nvml_;
  std::string prefix_;
  nvml::Device handle_;
  std::vector<SystemFactRow>* facts_;
};

// nvmlGpuP2PStatus_t
std::string_view PeerStatus(unsigned int status) {
  constexpr std::string_view kNames[] = {"ok",
                                         "chipset not supported",
                                         "GPU not supported",
                                         "the link between the sockets does not support it",
                                         "disabled by a registry key",
                                         "not supported",
                                         "unknown"};
  return kNames[status < std::size(kNames) ? status : std::size(kNames) - 1];
}

std::string BusIdOf(const NvmlLibrary& nvml, nvml::Device handle) {
  nvml::PciInfo info{};
  if (nvml.DeviceGetPciInfo == nullptr || nvml.DeviceGetPciInfo(handle, &info) != nvml::kSuccess)
    return {};
  info.bus_id[sizeof info.bus_id - 1] = '\0';
  return info.bus_id;
}

}  // namespace

std::vector<DeviceRow> ListNvmlDevices(const NvmlLibrary& nvml) {
  std::vector<DeviceRow> rows;
  const long long count = NvmlNumber<unsigned int>(nvml.DeviceGetCount);
  if (nvml.DeviceGetHandleByIndex == nullptr) return rows;
  for (long long index = 0; index < count; ++index) {
    nvml::Device handle = nullptr;
    if (nvml.DeviceGetHandleByIndex(static_cast<unsigned int>(index), &handle) != nvml::kSuccess)
      continue;
    DeviceRow row{};
    row.device = static_cast<int>(index);
    char name[96] = {};
    if (nvml.DeviceGetName != nullptr &&
        nvml.DeviceGetName(handle, name, sizeof name - 1) == nvml::kSuccess)
      row.name = name;
    row.pci_bus_id = BusIdOf(nvml, handle);
    rows.push_back(row);
  }
  return rows;
}

NvmlDevices::NvmlDevices(const NvmlLibrary& nvml, const std::vector<DeviceRow>& devices)
    : nvml_(nvml) {
  for (const DeviceRow& device : devices) {
    nvml::Device handle = nullptr;
    // A MIG instance has an identity of its own: its card is found by its place.
    const bool found =
        (nvml_.DeviceGetHandleByUuid != nullptr && !device.uuid.empty() &&
         nvml_.DeviceGetHandleByUuid(device.uuid.c_str(), &handle) == nvml::kSuccess) ||
        (nvml_.DeviceGetHandleByPciBusId != nullptr && !device.pci_bus_id.empty() &&
         nvml_.DeviceGetHandleByPciBusId(device.pci_bus_id.c_str(), &handle) == nvml::kSuccess);
    if (found) handles_[device.device] = handle;
  }
}

nvml::Device NvmlDevices::Find(int device) const {
  const auto found = handles_.find(device);
  return found == handles_.end() ? nullptr : found->second;
}

bool NvmlDevices::HasMig(int device) const {
  const nvml::Device handle = Find(device);
  unsigned int on = 0, pending = 0;
  return handle != nullptr && nvml_.DeviceGetMigMode != nullptr &&
         nvml_.DeviceGetMigMode(handle, &on, &pending) == nvml::kSuccess && on != 0;
}

std::optional<DeviceSampleRow> NvmlDevices::Sample(int device, std::int64_t time) const {
  const nvml::Device handle = Find(device);
  if (handle == nullptr) return std::nullopt;
  DeviceSampleRow row{};
  row.time = time;
  row.device = device;
  row.sm_clock_mhz = NvmlNumber<unsigned int>(nvml_.DeviceGetClockInfo, handle, nvml::kClockSm);
  row.memory_clock_mhz =
      NvmlNumber<unsigned int>(nvml_.DeviceGetClockInfo, handle, nvml::kClockMemory);
  row.power_mw = NvmlNumber<unsigned int>(nvml_.DeviceGetPowerUsage, handle);
  row.temperature_c =
      NvmlNumber<unsigned int>(nvml_.DeviceGetTemperature, handle, nvml::kTemperatureGpu);
  row.throttle_reasons =
      NvmlNumber<unsigned long long>(nvml_.DeviceGetCurrentClocksEventReasons, handle);
  nvml::Utilization used{};
  const bool has_used = nvml_.DeviceGetUtilizationRates != nullptr &&
                        nvml_.DeviceGetUtilizationRates(handle, &used) == nvml::kSuccess;
  row.sm_utilisation_pct = has_used ? std::int64_t{used.gpu} : -1;
  row.memory_utilisation_pct = has_used ? std::int64_t{used.memory} : -1;
  nvml::Memory memory{};
  const bool has_memory = nvml_.DeviceGetMemoryInfo != nullptr &&
                          nvml_.DeviceGetMemoryInfo(handle, &memory) == nvml::kSuccess;
  row.memory_used_bytes = has_memory ? static_cast<std::int64_t>(memory.used) : -1;
  const bool told = row.sm_clock_mhz >= 0 || row.memory_clock_mhz >= 0 || row.power_mw >= 0 ||
                    row.temperature_c >= 0 || row.throttle_reasons >= 0 || has_used || has_memory;
  return told ? std::optional(row) : std::nullopt;
}

// KiB as bytes.
long long NvmlDevices::LinkField(nvml::Device handle, unsigned int field) const {
  nvml::FieldValue value{};
  value.field = field;
  value.scope = nvml::kAllLinks;
  if (nvml_.DeviceGetFieldValues == nullptr ||
      nvml_.DeviceGetFieldValues(handle, 1, &value) != nvml::kSuccess ||
      value.result != nvml::kSuccess)
    return -1;
  if (value.type == nvml::kTypeU32) return Bytes(value.value.u32, 1024);
  if (value.type != nvml::kTypeU64 && value.type != nvml::kTypeUlong) return -1;
  return Bytes(static_cast<long long>(value.value.u64), 1024);
}

// Over all links that tell; -1: none does.
long long NvmlDevices::LinkErrors(nvml::Device handle, unsigned int counter) const {
  long long sum = -1;
  for (unsigned int link = 0; link < nvml::kMaxLinks; ++link) {
    const long long errors =
        NvmlNumber<unsigned long long>(nvml_.DeviceGetNvLinkErrorCounter, handle, link, counter);
    if (errors >= 0) sum = (sum < 0 ? 0 : sum) + errors;
  }
  return sum;
}

std::optional<DeviceSlowSampleRow> NvmlDevices::SampleSlow(int device, std::int64_t time) const {
  const nvml::Device handle = Find(device);
  if (handle == nullptr) return std::nullopt;
  DeviceSlowSampleRow row{};
  row.time = time;
  row.device = device;
  row.pcie_generation = NvmlNumber<unsigned int>(nvml_.DeviceGetCurrPcieLinkGeneration, handle);
  row.pcie_width = NvmlNumber<unsigned int>(nvml_.DeviceGetCurrPcieLinkWidth, handle);
  const auto throughput = [&](unsigned int direction) {
    return Bytes(NvmlNumber<unsigned int>(nvml_.DeviceGetPcieThroughput, handle, direction), 1000);
  };
  row.pcie_tx_bytes_s = throughput(nvml::kPcieTx);
  row.pcie_rx_bytes_s = throughput(nvml::kPcieRx);
  row.pcie_replays = NvmlNumber<unsigned int>(nvml_.DeviceGetPcieReplayCounter, handle);
  row.nvlink_tx_bytes = LinkField(handle, nvml::kFieldLinkTx);
  row.nvlink_rx_bytes = LinkField(handle, nvml::kFieldLinkRx);
  row.nvlink_replays = LinkErrors(handle, nvml::kLinkReplay);
  row.nvlink_recoveries = LinkErrors(handle, nvml::kLinkRecovery);
  row.nvlink_crc_errors = LinkErrors(handle, nvml::kLinkCrcFlit);
  const auto errors = [&](unsigned int kind) {
    return NvmlNumber<unsigned long long>(nvml_.DeviceGetTotalEccErrors, handle, kind,
                                          nvml::kVolatileEcc);
  };
  row.ecc_corrected = errors(nvml::kErrorCorrected);
  row.ecc_uncorrected = errors(nvml::kErrorUncorrected);
  return row;
}

void NvmlDevices::AddLinks(int device, nvml::Device handle,
                           std::vector<SystemFactRow>* facts) const {
  const std::string prefix = std::to_string(device) + ".";
  for (unsigned int link = 0; link < nvml::kMaxLinks; ++link) {
    const long long active = NvmlNumber<unsigned int>(nvml_.DeviceGetNvLinkState, handle, link);
    if (active < 0) continue;  // the card has no such link
    std::string value = active != 0 ? "active" : "inactive";
    nvml::PciInfo remote{};
    if (active != 0 && nvml_.DeviceGetNvLinkRemotePciInfo != nullptr &&
        nvml_.DeviceGetNvLinkRemotePciInfo(handle, link, &remote) == nvml::kSuccess) {
      remote.bus_id[sizeof remote.bus_id - 1] = '\0';
      value += ", to " + std::string(remote.bus_id);
    }
    facts->push_back(Known("nvlink", prefix + std::to_string(link), value));
  }
}

void NvmlDevices::AddPeers(int device, nvml::Device handle,
                           std::vector<SystemFactRow>* facts) const {
  const long long count = NvmlNumber<unsigned int>(nvml_.DeviceGetCount);
  if (nvml_.DeviceGetHandleByIndex == nullptr) return;
  for (long long index = 0; index < count; ++index) {
    nvml::Device peer = nullptr;
    if (nvml_.DeviceGetHandleByIndex(static_cast<unsigned int>(index), &peer) != nvml::kSuccess ||
        peer == handle)
      continue;
    const std::string key = std::to_string(device) + " " + BusIdOf(nvml_, peer);
    if (nvml_.DeviceGetP2PStatus == nullptr) {
      facts->push_back(Unknown("p2p", key, kMissing));
      continue;
    }
    std::string value;
    constexpr std::pair<unsigned int, const char*> kAbilities[] = {{nvml::kP2pRead, "read"},
                                                                   {nvml::kP2pWrite, "write"},
                                                                   {nvml::kP2pNvLink, "NVLink"},
                                                                   {nvml::kP2pAtomics, "atomics"}};
    for (const auto& [ability, name] : kAbilities) {
      unsigned int status = 0;
      const nvml::Return result = nvml_.DeviceGetP2PStatus(handle, peer, ability, &status);
      value += std::string(value.empty() ? "" : ", ") + name + ": ";
      value += result == nvml::kSuccess ? std::string(PeerStatus(status)) : nvml_.Explain(result);
    }
    facts->push_back(Known("p2p", key, value));
  }
}

std::vector<SystemFactRow> NvmlDevices::Facts(int device) const {
  std::vector<SystemFactRow> facts;
  char version[96] = {};
  if (nvml_.SystemGetDriverVersion == nullptr ||
      nvml_.SystemGetDriverVersion(version, sizeof version - 1) != nvml::kSuccess) {
    facts.push_back(Unknown("host", "nvidia_driver", kMissing));
  } else {
    facts.push_back(Known("host", "nvidia_driver", version));
  }
  const nvml::Device handle = Find(device);
  if (handle == nullptr) {
    facts.push_back(Unknown("gpu", std::to_string(device) + ".nvml", "NVML knows no such device"));
    return facts;
  }
  GpuFacts gpu(nvml_, device, handle, &facts);
  gpu.AddNumber("pcie_generation_most", nvml_.DeviceGetMaxPcieLinkGeneration);
  gpu.AddNumber("pcie_generation_of_card", nvml_.DeviceGetGpuMaxPcieLinkGeneration);
  gpu.AddNumber("pcie_width_most", nvml_.DeviceGetMaxPcieLinkWidth);
  gpu.AddNumber("power_limit_mw", nvml_.DeviceGetEnforcedPowerLimit);
  gpu.AddClock("sm_clock_most_mhz", nvml::kClockSm);
  gpu.AddClock("memory_clock_most_mhz", nvml::kClockMemory);
  gpu.AddSwitch("persistence_mode", nvml_.DeviceGetPersistenceMode);
  gpu.AddMode("ecc", nvml_.DeviceGetEccMode);
  gpu.AddMode("mig", nvml_.DeviceGetMigMode);
  AddLinks(device, handle, &facts);
  AddPeers(device, handle, &facts);
  return facts;
}

}  // namespace traceinject
