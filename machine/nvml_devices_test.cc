// SPDX-License-Identifier: Apache-2.0
#include "machine/nvml_devices.h"

#include <gtest/gtest.h>

#include <cstring>

namespace traceinject {
namespace {

using nvml::Device;
using nvml::Return;

Device Handle(std::intptr_t number) { return reinterpret_cast<Device>(number); }

// A library with nothing but what finds a device.
NvmlLibrary Bare() {
  NvmlLibrary nvml;
  nvml.DeviceGetHandleByUuid = [](const char* uuid, Device* device) -> Return {
    if (std::strcmp(uuid, "GPU-known") != 0) return 6;
    *device = Handle(1);
    return nvml::kSuccess;
  };
  nvml.DeviceGetHandleByPciBusId = [](const char*, Device* device) -> Return {
    *device = Handle(2);
    return nvml::kSuccess;
  };
  return nvml;
}

DeviceRow Known(const char* uuid, const char* bus = "") {
  DeviceRow row{};
  row.uuid = uuid;
  row.pci_bus_id = bus;
  return row;
}

std::string DeviceValue(const std::vector<SystemFactRow>& facts, const std::string& key) {
  for (const SystemFactRow& fact : facts) {
    if (fact.key == key) return fact.reason.empty() ? fact.value : "unknown: " + fact.reason;
  }
  return "absent";
}

TEST(NvmlDevices, AreListedWithNameAndPlace) {
  EXPECT_TRUE(ListNvmlDevices(Bare()).empty());
  NvmlLibrary nvml = Bare();
  nvml.DeviceGetCount = [](unsigned int* count) -> Return { return *count = 3, nvml::kSuccess; };
  nvml.DeviceGetHandleByIndex = [](unsigned int index, Device* device) -> Return {
    if (index == 1) return nvml::kNoPermission;
    return *device = Handle(1 + index), nvml::kSuccess;
  };
  nvml.DeviceGetName = [](Device, char* name, unsigned int) -> Return {
    return std::strcpy(name, "NVIDIA H100"), nvml::kSuccess;
  };
  const auto rows = ListNvmlDevices(nvml);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].device, 2) << "as NVML counts";
  EXPECT_EQ(rows[1].name, "NVIDIA H100");
  EXPECT_EQ(rows[1].pci_bus_id, "") << "not told";
}

TEST(NvmlDevices, MissingFunctionsTellNothing) {
  const NvmlDevices devices(Bare(), {Known("GPU-known")});
  EXPECT_FALSE(devices.Sample(0, 5).has_value());
  const auto slow = devices.SampleSlow(0, 5);
  ASSERT_TRUE(slow.has_value());
  for (const std::int64_t value :
       {slow->pcie_generation, slow->pcie_tx_bytes_s, slow->pcie_rx_bytes_s, slow->nvlink_tx_bytes,
        slow->nvlink_replays, slow->ecc_corrected})
    EXPECT_EQ(value, -1);
  EXPECT_TRUE(DeviceValue(devices.Facts(0), "0.ecc").starts_with("unknown: "));
}

TEST(NvmlDevices, OneFunctionIsEnough) {
  NvmlLibrary nvml = Bare();
  nvml.DeviceGetPowerUsage = [](Device device, unsigned int* mw) -> Return {
    *mw = device == Handle(1) ? 300'000 : 0;
    return nvml::kSuccess;
  };
  nvml.DeviceGetTemperature = [](Device, unsigned int, unsigned int* celsius) -> Return {
    *celsius = 50;
    return nvml::kNotSupported;
  };
  const auto row = NvmlDevices(nvml, {Known("GPU-known")}).Sample(0, 5);
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->time, 5);
  EXPECT_EQ(row->power_mw, 300'000);
  EXPECT_EQ(row->temperature_c, -1) << "refused is unknown";
  EXPECT_EQ(row->sm_utilisation_pct, -1);
}

TEST(NvmlDevices, APartOfACardIsFoundByItsPlace) {
  NvmlLibrary nvml = Bare();
  nvml.DeviceGetPowerUsage = [](Device device, unsigned int* mw) -> Return {
    *mw = static_cast<unsigned int>(reinterpret_cast<std::intptr_t>(device));
    return nvml::kSuccess;
  };
  const NvmlDevices devices(nvml, {Known("GPU-of-an-instance", "0000:18:00.0")});
  ASSERT_TRUE(devices.Sample(0, 5).has_value());
  EXPECT_EQ(devices.Sample(0, 5)->power_mw, 2);
}

TEST(NvmlDevices, ADeviceThatNvmlDoesNotKnow) {
  const NvmlDevices devices(Bare(), {Known("GPU-other")});
  EXPECT_FALSE(devices.Sample(0, 5).has_value());
  EXPECT_FALSE(devices.SampleSlow(0, 5).has_value());
  EXPECT_EQ(DeviceValue(devices.Facts(0), "0.nvml"), "unknown: NVML knows no such device");
}

TEST(NvmlDevices, LinksAreAddedUp) {
  NvmlLibrary nvml = Bare();
  nvml.DeviceGetNvLinkErrorCounter = [](Device, unsigned int link, unsigned int counter,
                                        unsigned long long* errors) -> Return {
    *errors = counter == nvml::kLinkReplay ? 10 : 0;
    return link < 3 ? nvml::kSuccess : nvml::kNotSupported;
  };
  nvml.DeviceGetFieldValues = [](Device, int, nvml::FieldValue* value) -> Return {
    value->result = value->field == nvml::kFieldLinkTx ? nvml::kSuccess : nvml::kNotSupported;
    value->type = nvml::kTypeU64;
    value->value.u64 = 3;
    return nvml::kSuccess;
  };
  const auto row = NvmlDevices(nvml, {Known("GPU-known")}).SampleSlow(0, 5);
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->nvlink_replays, 30);
  EXPECT_EQ(row->nvlink_crc_errors, 0);
  EXPECT_EQ(row->nvlink_tx_bytes, 3072);
  EXPECT_EQ(row->nvlink_rx_bytes, -1);
}

}  // namespace
}  // namespace traceinject
