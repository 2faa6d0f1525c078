// SPDX-License-Identifier: Apache-2.0
// libnvidia-ml.so.1: the functions that the injected library looks for. The cards are those of
// libcuda.cc. Environment variables set what they tell (FAKE_NVML_..., see the calls of Setting
// below), and
//   FAKE_NVML_INIT_ERROR  what nvmlInit_v2 returns
//   FAKE_NVML_REFUSE      name of a function that is not supported
//   FAKE_NVML_HANG        name of a function that never returns
//   FAKE_NVML_GPM=0       the card has no GPM metrics
// Built with FAKE_NVML_OLD it is an old driver's: some functions are missing, one has its old name.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "machine/nvml_abi.h"
#include "tests/fake_gpu/simulator/activity_history.h"
#include "tests/fake_gpu/simulator/clock.h"
#include "tests/fake_gpu/simulator/settings.h"
#include "tests/fake_gpu/simulator/simulator.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

namespace fake = traceinject::fake;
namespace nvml = traceinject::nvml;

using nvml::Device;
using nvml::Return;

constexpr Return kInvalidArgument = 2, kNotFound = 6;

Device HandleOf(int index) { return reinterpret_cast<Device>(std::intptr_t{index} + 1); }
int IndexOf(Device device) { return static_cast<int>(reinterpret_cast<std::intptr_t>(device)) - 1; }

// What every function does first.
Return Enter(const char* function) {
  if (fake::SettingText("FAKE_NVML_HANG", "") == function) {
    for (;;) pause();
  }
  return fake::SettingText("FAKE_NVML_REFUSE", "") == function ? nvml::kNotSupported
                                                               : nvml::kSuccess;
}

template <typename Number>
Return Tell(const char* function, const char* setting, std::int64_t otherwise, Number* value) {
  const Return result = Enter(function);
  if (result != nvml::kSuccess) return result;
  *value = static_cast<Number>(fake::SettingNumber(setting, otherwise));
  return nvml::kSuccess;
}

std::string BusId(int index) {
  char text[32];
  std::snprintf(text, sizeof text, "00000000:%02X:00.0", 0x18u + static_cast<unsigned>(index));
  return text;
}

std::string Uuid(int index) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", unsigned{fake::UuidByte(index, i)});
    text += digits;
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

void FillPci(int index, nvml::PciInfo* info) {
  *info = {};
  std::snprintf(info->bus_id, sizeof info->bus_id, "%s", BusId(index).c_str());
}

}  // namespace

EXPORT Return nvmlInit_v2() {
  const Return result = Enter("nvmlInit_v2");
  if (result != nvml::kSuccess) return result;
  return static_cast<Return>(fake::SettingNumber("FAKE_NVML_INIT_ERROR", nvml::kSuccess));
}

EXPORT const char* nvmlErrorString(Return result) {
  return result == nvml::kNotSupported ? "Not Supported" : "Driver Not Loaded";
}

EXPORT Return nvmlSystemGetDriverVersion(char* text, unsigned int length) {
  std::snprintf(text, length, "580.65.06");
  return nvml::kSuccess;
}

EXPORT Return nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = static_cast<unsigned int>(fake::DeviceCount());
  return nvml::kSuccess;
}

EXPORT Return nvmlDeviceGetHandleByIndex_v2(unsigned int index, Device* device) {
  if (static_cast<int>(index) >= fake::DeviceCount()) return kInvalidArgument;
  *device = HandleOf(static_cast<int>(index));
  return nvml::kSuccess;
}

EXPORT Return nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  if (const Return result = Enter("nvmlDeviceGetHandleByUUID"); result != nvml::kSuccess)
    return result;
  for (int index = 0; index < fake::DeviceCount(); ++index) {
    if (Uuid(index) == uuid) return *device = HandleOf(index), nvml::kSuccess;
  }
  return kNotFound;
}

// Addresses with four and with eight digits of the domain are the same.
EXPORT Return nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, Device* device) {
  if (const Return result = Enter("nvmlDeviceGetHandleByPciBusId_v2"); result != nvml::kSuccess)
    return result;
  for (int index = 0; index < fake::DeviceCount(); ++index) {
    if (BusId(index).ends_with(bus_id)) return *device = HandleOf(index), nvml::kSuccess;
  }
  return kNotFound;
}

EXPORT Return nvmlDeviceGetName(Device, char* name, unsigned int length) {
  std::snprintf(name, length, "%s", fake::DeviceName().c_str());
  return nvml::kSuccess;
}

EXPORT Return nvmlDeviceGetPciInfo_v3(Device device, nvml::PciInfo* info) {
  FillPci(IndexOf(device), info);
  return nvml::kSuccess;
}

EXPORT Return nvmlDeviceGetClockInfo(Device, unsigned int clock, unsigned int* mhz) {
  return clock == nvml::kClockSm
             ? Tell("nvmlDeviceGetClockInfo", "FAKE_NVML_SM_CLOCK_MHZ", 1755, mhz)
             : Tell("nvmlDeviceGetClockInfo", "FAKE_NVML_MEMORY_CLOCK_MHZ", 2619, mhz);
}

EXPORT Return nvmlDeviceGetMaxClockInfo(Device, unsigned int clock, unsigned int* mhz) {
  *mhz = clock == nvml::kClockSm ? 1980 : 2619;
  return nvml::kSuccess;
}

EXPORT Return nvmlDeviceGetPowerUsage(Device, unsigned int* mw) {
  return Tell("nvmlDeviceGetPowerUsage", "FAKE_NVML_POWER_MW", 412'000, mw);
}

EXPORT Return nvmlDeviceGetEnforcedPowerLimit(Device, unsigned int* mw) {
  return Tell("nvmlDeviceGetEnforcedPowerLimit", "FAKE_NVML_POWER_LIMIT_MW", 700'000, mw);
}

EXPORT Return nvmlDeviceGetTemperature(Device, unsigned int, unsigned int* celsius) {
  return Tell("nvmlDeviceGetTemperature", "FAKE_NVML_TEMPERATURE_C", 61, celsius);
}

EXPORT Return nvmlDeviceGetUtilizationRates(Device, nvml::Utilization* used) {
  used->memory = 41;
  return Tell("nvmlDeviceGetUtilizationRates", "FAKE_NVML_UTILISATION_PCT", 97, &used->gpu);
}

EXPORT Return nvmlDeviceGetMemoryInfo(Device, nvml::Memory* memory) {
  memory->total = 85'520'809'984;
  return Tell("nvmlDeviceGetMemoryInfo", "FAKE_NVML_MEMORY_USED", 31'000'000'000, &memory->used);
}

// A real one measures for 20 ms.
EXPORT Return nvmlDeviceGetPcieThroughput(Device, unsigned int direction, unsigned int* kb_s) {
  usleep(20'000);
  return direction == nvml::kPcieTx
             ? Tell("nvmlDeviceGetPcieThroughput", "FAKE_NVML_PCIE_TX_KB_S", 1'500, kb_s)
             : Tell("nvmlDeviceGetPcieThroughput", "FAKE_NVML_PCIE_RX_KB_S", 12'000'000, kb_s);
}

EXPORT Return nvmlDeviceGetPcieReplayCounter(Device, unsigned int* count) {
  return Tell("nvmlDeviceGetPcieReplayCounter", "FAKE_NVML_PCIE_REPLAYS", 3, count);
}

EXPORT Return nvmlDeviceGetCurrPcieLinkGeneration(Device, unsigned int* generation) {
  return Tell("nvmlDeviceGetCurrPcieLinkGeneration", "FAKE_NVML_PCIE_GENERATION", 5, generation);
}

EXPORT Return nvmlDeviceGetCurrPcieLinkWidth(Device, unsigned int* lanes) {
  return Tell("nvmlDeviceGetCurrPcieLinkWidth", "FAKE_NVML_PCIE_WIDTH", 16, lanes);
}

EXPORT Return nvmlDeviceGetMaxPcieLinkGeneration(Device, unsigned int* generation) {
  *generation = 5;
  return nvml::kSuccess;
}

EXPORT Return nvmlDeviceGetMaxPcieLinkWidth(Device, unsigned int* lanes) {
  *lanes = 16;
  return nvml::kSuccess;
}

// Four links to one switch.
EXPORT Return nvmlDeviceGetNvLinkState(Device, unsigned int link, unsigned int* active) {
  if (link >= 4) return kInvalidArgument;
  return Tell("nvmlDeviceGetNvLinkState", link == 3 ? "FAKE_NVML_LAST_LINK" : "", 1, active);
}

EXPORT Return nvmlDeviceGetNvLinkErrorCounter(Device, unsigned int link, unsigned int counter,
                                              unsigned long long* errors) {
  if (link >= 4) return kInvalidArgument;
  *errors = counter == nvml::kLinkReplay ? 2 : 0;
  return Enter("nvmlDeviceGetNvLinkErrorCounter");
}

EXPORT Return nvmlDeviceGetTotalEccErrors(Device, unsigned int kind, unsigned int,
                                          unsigned long long* errors) {
  *errors = kind == nvml::kErrorCorrected ? 7 : 0;
  return Enter("nvmlDeviceGetTotalEccErrors");
}

EXPORT Return nvmlDeviceGetEccMode(Device, unsigned int* now, unsigned int* pending) {
  *now = *pending = 1;
  return Enter("nvmlDeviceGetEccMode");
}

EXPORT Return nvmlDeviceGetPersistenceMode(Device, unsigned int* on) {
  return Tell("nvmlDeviceGetPersistenceMode", "FAKE_NVML_PERSISTENCE", 1, on);
}

#ifdef FAKE_NVML_OLD

EXPORT Return nvmlDeviceGetCurrentClocksThrottleReasons(Device, unsigned long long* reasons) {
  return Tell("nvmlDeviceGetCurrentClocksThrottleReasons", "FAKE_NVML_THROTTLE", 0, reasons);
}

#else

EXPORT Return nvmlDeviceGetCurrentClocksEventReasons(Device, unsigned long long* reasons) {
  return Tell("nvmlDeviceGetCurrentClocksEventReasons", "FAKE_NVML_THROTTLE", 0, reasons);
}

EXPORT Return nvmlDeviceGetGpuMaxPcieLinkGeneration(Device, unsigned int* generation) {
  *generation = 6;
  return nvml::kSuccess;
}

EXPORT Return nvmlDeviceGetNvLinkRemotePciInfo_v2(Device, unsigned int, nvml::PciInfo* info) {
  FillPci(0x80, info);
  return nvml::kSuccess;
}

EXPORT Return nvmlDeviceGetFieldValues(Device, int count, nvml::FieldValue* values) {
  for (int i = 0; i < count; ++i) {
    values[i].result = values[i].scope == nvml::kAllLinks ? nvml::kSuccess : nvml::kNotSupported;
    values[i].type = nvml::kTypeU64;
    values[i].value.u64 = values[i].field == nvml::kFieldLinkTx ? 1000 : 2000;
  }
  return Enter("nvmlDeviceGetFieldValues");
}

EXPORT Return nvmlDeviceGetP2PStatus(Device, Device, unsigned int ability, unsigned int* status) {
  *status = ability == nvml::kP2pAtomics ? 5 : 0;
  return Enter("nvmlDeviceGetP2PStatus");
}

EXPORT Return nvmlDeviceGetMigMode(Device, unsigned int* now, unsigned int* pending) {
  *now = *pending = static_cast<unsigned int>(fake::SettingNumber("FAKE_NVML_MIG", 0));
  return Enter("nvmlDeviceGetMigMode");
}

// A moment, and of which device.
struct FakeGpmSample {
  std::int64_t time_ns = 0;
  int device = 0;
};

EXPORT Return nvmlGpmQueryDeviceSupport(Device, nvml::GpmSupport* support) {
  if (support->version != nvml::kGpmVersion) return kInvalidArgument;
  support->is_supported = static_cast<unsigned int>(fake::SettingNumber("FAKE_NVML_GPM", 1));
  return Enter("nvmlGpmQueryDeviceSupport");
}

EXPORT Return nvmlGpmSampleAlloc(nvml::GpmSample* sample) {
  const Return result = Enter("nvmlGpmSampleAlloc");
  if (result == nvml::kSuccess) *sample = reinterpret_cast<nvml::GpmSample>(new FakeGpmSample);
  return result;
}

EXPORT Return nvmlGpmSampleFree(nvml::GpmSample sample) {
  delete reinterpret_cast<FakeGpmSample*>(sample);
  return Enter("nvmlGpmSampleFree");
}

EXPORT Return nvmlGpmSampleGet(Device device, nvml::GpmSample sample) {
  *reinterpret_cast<FakeGpmSample*>(sample) = {fake::NowNs(), IndexOf(device)};
  return Enter("nvmlGpmSampleGet");
}

// SM, tensor and DRAM activity, PCIe traffic, and one that this card does not know.
EXPORT Return nvmlGpmMetricsGet(nvml::GpmMetricsGet* get) {
  if (get->version != nvml::kGpmVersion) return kInvalidArgument;
  const auto* before = reinterpret_cast<const FakeGpmSample*>(get->before);
  const auto* after = reinterpret_cast<const FakeGpmSample*>(get->after);
  const fake::Use use = fake::UseOf(after->device, before->time_ns, after->time_ns);
  for (unsigned int i = 0; i < get->count; ++i) {
    nvml::GpmMetric& metric = get->metrics[i];
    metric.result = metric.metric == 6 ? nvml::kNotSupported : nvml::kSuccess;
    metric.value = metric.metric == 2                         ? use.sm
                   : metric.metric == 5 || metric.metric == 7 ? use.tensor
                   : metric.metric == 10                      ? use.memory
                   : metric.metric == 20                      ? 1500
                                                              : 0;
  }
  return Enter("nvmlGpmMetricsGet");
}

#endif
