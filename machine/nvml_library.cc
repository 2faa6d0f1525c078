// SPDX-License-Identifier: Apache-2.0
#include "machine/nvml_library.h"

#include <dlfcn.h>

namespace traceinject {
namespace {

// The first of `names` that the library has: newest first.
template <typename Function, typename... Names>
void Bind(void* library, Function& function, Names... names) {
  void* found = nullptr;
  ((found = found != nullptr ? found : dlsym(library, names)), ...);
  function = reinterpret_cast<Function>(found);
}

NvmlLibrary BindAll(void* library) {
  NvmlLibrary nvml;
  Bind(library, nvml.Init, "nvmlInit_v2");
  Bind(library, nvml.ErrorString, "nvmlErrorString");
  Bind(library, nvml.SystemGetDriverVersion, "nvmlSystemGetDriverVersion");
  Bind(library, nvml.DeviceGetCount, "nvmlDeviceGetCount_v2");
  Bind(library, nvml.DeviceGetHandleByIndex, "nvmlDeviceGetHandleByIndex_v2");
  Bind(library, nvml.DeviceGetHandleByUuid, "nvmlDeviceGetHandleByUUID");
  Bind(library, nvml.DeviceGetHandleByPciBusId, "nvmlDeviceGetHandleByPciBusId_v2");
  Bind(library, nvml.DeviceGetName, "nvmlDeviceGetName");
  Bind(library, nvml.DeviceGetPciInfo, "nvmlDeviceGetPciInfo_v3");
  Bind(library, nvml.DeviceGetClockInfo, "nvmlDeviceGetClockInfo");
  Bind(library, nvml.DeviceGetMaxClockInfo, "nvmlDeviceGetMaxClockInfo");
  Bind(library, nvml.DeviceGetPowerUsage, "nvmlDeviceGetPowerUsage");
  Bind(library, nvml.DeviceGetEnforcedPowerLimit, "nvmlDeviceGetEnforcedPowerLimit");
  Bind(library, nvml.DeviceGetTemperature, "nvmlDeviceGetTemperature");
  Bind(library, nvml.DeviceGetCurrentClocksEventReasons, "nvmlDeviceGetCurrentClocksEventReasons",
       "nvmlDeviceGetCurrentClocksThrottleReasons");
  Bind(library, nvml.DeviceGetUtilizationRates, "nvmlDeviceGetUtilizationRates");
  Bind(library, nvml.DeviceGetMemoryInfo, "nvmlDeviceGetMemoryInfo");
  Bind(library, nvml.DeviceGetPcieThroughput, "nvmlDeviceGetPcieThroughput");
  Bind(library, nvml.DeviceGetPcieReplayCounter, "nvmlDeviceGetPcieReplayCounter");
  Bind(library, nvml.DeviceGetCurrPcieLinkGeneration, "nvmlDeviceGetCurrPcieLinkGeneration");
  Bind(library, nvml.DeviceGetCurrPcieLinkWidth, "nvmlDeviceGetCurrPcieLinkWidth");
  Bind(library, nvml.DeviceGetMaxPcieLinkGeneration, "nvmlDeviceGetMaxPcieLinkGeneration");
  Bind(library, nvml.DeviceGetMaxPcieLinkWidth, "nvmlDeviceGetMaxPcieLinkWidth");
  Bind(library, nvml.DeviceGetGpuMaxPcieLinkGeneration, "nvmlDeviceGetGpuMaxPcieLinkGeneration");
  Bind(library, nvml.DeviceGetFieldValues, "nvmlDeviceGetFieldValues");
  Bind(library, nvml.DeviceGetNvLinkState, "nvmlDeviceGetNvLinkState");
  Bind(library, nvml.DeviceGetNvLinkRemotePciInfo, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
  Bind(library, nvml.DeviceGetNvLinkErrorCounter, "nvmlDeviceGetNvLinkErrorCounter");
  Bind(library, nvml.DeviceGetP2PStatus, "nvmlDeviceGetP2PStatus");
  Bind(library, nvml.DeviceGetTotalEccErrors, "nvmlDeviceGetTotalEccErrors");
  Bind(library, nvml.DeviceGetEccMode, "nvmlDeviceGetEccMode");
  Bind(library, nvml.DeviceGetMigMode, "nvmlDeviceGetMigMode");
  Bind(library, nvml.DeviceGetPersistenceMode, "nvmlDeviceGetPersistenceMode");
  Bind(library, nvml.GpmQueryDeviceSupport, "nvmlGpmQueryDeviceSupport");
  Bind(library, nvml.GpmSampleAlloc, "nvmlGpmSampleAlloc");
  Bind(library, nvml.GpmSampleFree, "nvmlGpmSampleFree");
  Bind(library, nvml.GpmSampleGet, "nvmlGpmSampleGet");
  Bind(library, nvml.GpmMetricsGet, "nvmlGpmMetricsGet");
  return nvml;
}

}  // namespace

std::string NvmlLibrary::Explain(nvml::Return result) const {
  const char* words = ErrorString == nullptr ? nullptr : ErrorString(result);
  return words != nullptr ? words : "NVML error " + std::to_string(result);
}

std::optional<NvmlLibrary> OpenNvml(std::string* why) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* error = dlerror();
    *why = error != nullptr ? error : "cannot load libnvidia-ml.so.1";
    return std::nullopt;
  }
  const NvmlLibrary nvml = BindAll(library);
  if (nvml.Init == nullptr) {
    *why = "libnvidia-ml.so.1 has no nvmlInit_v2";
    return std::nullopt;
  }
  if (const nvml::Return result = nvml.Init(); result != nvml::kSuccess) {
    *why = "nvmlInit_v2: " + nvml.Explain(result);
    return std::nullopt;
  }
  return nvml;
}

}  // namespace traceinject
