// SPDX-License-Identifier: Apache-2.0
// libnvidia-ml.so.1, loaded when the first sample is wanted. Every function may be missing: drivers
// differ.
#pragma once

#include <optional>
#include <string>

#include "machine/nvml_abi.h"

namespace traceinject {

struct NvmlLibrary {
  nvml::Return (*Init)() = nullptr;
  const char* (*ErrorString)(nvml::Return) = nullptr;
  nvml::Return (*SystemGetDriverVersion)(char*, unsigned int) = nullptr;
  nvml::Return (*DeviceGetCount)(unsigned int*) = nullptr;
  nvml::Return (*DeviceGetHandleByIndex)(unsigned int, nvml::Device*) = nullptr;
  nvml::Return (*DeviceGetHandleByUuid)(const char*, nvml::Device*) = nullptr;
  nvml::Return (*DeviceGetHandleByPciBusId)(const char*, nvml::Device*) = nullptr;
  nvml::Return (*DeviceGetName)(nvml::Device, char*, unsigned int) = nullptr;
  nvml::Return (*DeviceGetPciInfo)(nvml::Device, nvml::PciInfo*) = nullptr;

  nvml::Return (*DeviceGetClockInfo)(nvml::Device, unsigned int, unsigned int*) = nullptr;
  nvml::Return (*DeviceGetMaxClockInfo)(nvml::Device, unsigned int, unsigned int*) = nullptr;
  nvml::Return (*DeviceGetPowerUsage)(nvml::Device, unsigned int*) = nullptr;
  nvml::Return (*DeviceGetEnforcedPowerLimit)(nvml::Device, unsigned int*) = nullptr;
  nvml::Return (*DeviceGetTemperature)(nvml::Device, unsigned int, unsigned int*) = nullptr;
  nvml::Return (*DeviceGetCurrentClocksEventReasons)(nvml::Device, unsigned long long*) = nullptr;
  nvml::Return (*DeviceGetUtilizationRates)(nvml::Device, nvml::Utilization*) = nullptr;
  nvml::Return (*DeviceGetMemoryInfo)(nvml::Device, nvml::Memory*) = nullptr;

  nvml::Return (*DeviceGetPcieThroughput)(nvml::Device, unsigned int, unsigned int*) = nullptr;
  nvml::Return (*DeviceGetPcieReplayCounter)(nvml::Device, unsigned int*) = nullptr;
  nvml::Return (*DeviceGetCurrPcieLinkGeneration)(nvml::Device, unsigned int*) = nullptr;
  nvml::Return (*DeviceGetCurrPcieLinkWidth)(nvml::Device, unsigned int*) = nullptr;
  nvml::Return (*DeviceGetMaxPcieLinkGeneration)(nvml::Device, unsigned int*) = nullptr;
  nvml::Return (*DeviceGetMaxPcieLinkWidth)(nvml::Device, unsigned int*) = nullptr;
  nvml::Return (*DeviceGetGpuMaxPcieLinkGeneration)(nvml::Device, unsigned int*) = nullptr;

  nvml::Return (*DeviceGetFieldValues)(nvml::Device, int, nvml::FieldValue*) = nullptr;
  nvml::Return (*DeviceGetNvLinkState)(nvml::Device, unsigned int, unsigned int*) = nullptr;
  nvml::Return (*DeviceGetNvLinkRemotePciInfo)(nvml::Device, unsigned int,
                                               nvml::PciInfo*) = nullptr;
  nvml::Return (*DeviceGetNvLinkErrorCounter)(nvml::Device, unsigned int, unsigned int,
                                              unsigned long long*) = nullptr;
  nvml::Return (*DeviceGetP2PStatus)(nvml::Device, nvml::Device, unsigned int,
                                     unsigned int*) = nullptr;

  nvml::Return (*DeviceGetTotalEccErrors)(nvml::Device, unsigned int, unsigned int,
                                          unsigned long long*) = nullptr;
  nvml::Return (*DeviceGetEccMode)(nvml::Device, unsigned int*, unsigned int*) = nullptr;
  nvml::Return (*DeviceGetMigMode)(nvml::Device, unsigned int*, unsigned int*) = nullptr;
  nvml::Return (*DeviceGetPersistenceMode)(nvml::Device, unsigned int*) = nullptr;

  nvml::Return (*GpmQueryDeviceSupport)(nvml::Device, nvml::GpmSupport*) = nullptr;
  nvml::Return (*GpmSampleAlloc)(nvml::GpmSample*) = nullptr;
  nvml::Return (*GpmSampleFree)(nvml::GpmSample) = nullptr;
  nvml::Return (*GpmSampleGet)(nvml::Device, nvml::GpmSample) = nullptr;
  nvml::Return (*GpmMetricsGet)(nvml::GpmMetricsGet*) = nullptr;

  // In words, e.g. "Not Supported".
  std::string Explain(nvml::Return result) const;
};

// Loads the library and initializes it, which may take milliseconds. Without a value, `why` says
// what failed. It stays loaded: the program may use it, too.
std::optional<NvmlLibrary> OpenNvml(std::string* why);

// What a function of NVML that fills one number tells; -1: it is missing, or fails.
template <typename Number, typename Function, typename... Arguments>
long long NvmlNumber(Function function, Arguments... arguments) {
  Number value{};
  if (function == nullptr || function(arguments..., &value) != nvml::kSuccess) return -1;
  return static_cast<long long>(value);
}

}  // namespace traceinject
