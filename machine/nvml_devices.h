// SPDX-License-Identifier: Apache-2.0
// The GPUs of this process as NVML knows them: samples of them, and facts about them. One thread
// only; each call may take milliseconds, or never return on a broken driver.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "machine/nvml_library.h"
#include "machine/rows.h"

namespace traceinject {

// All GPUs that NVML shows, numbered as it does, with name and PCI address; the rest is unknown.
std::vector<DeviceRow> ListNvmlDevices(const NvmlLibrary& nvml);

class NvmlDevices {
 public:
  // `devices` as ReadDevices() gives them.
  NvmlDevices(const NvmlLibrary& nvml, const std::vector<DeviceRow>& devices);

  // Whether NVML knows the device; the others tell nothing about one that it does not.
  bool Knows(int device) const { return Find(device) != nullptr; }

  // Null: NVML does not know the device.
  nvml::Device Find(int device) const;
  // Whether the card is divided into instances.
  bool HasMig(int device) const;

  // Nothing if nothing at all is told.
  std::optional<DeviceSampleRow> Sample(int device, std::int64_t time) const;
  // Takes 40 ms on a card that measures PCIe throughput (20 ms a direction).
  std::optional<DeviceSlowSampleRow> SampleSlow(int device, std::int64_t time) const;

  // All that is known of a device and does not change, and the version of the driver.
  std::vector<SystemFactRow> Facts(int device) const;

 private:
  long long LinkField(nvml::Device handle, unsigned int field) const;
  long long LinkErrors(nvml::Device handle, unsigned int counter) const;
  void AddLinks(int device, nvml::Device handle, std::vector<SystemFactRow>* facts) const;
  void AddPeers(int device, nvml::Device handle, std::vector<SystemFactRow>* facts) const;

  NvmlLibrary nvml_;
  std::map<int, nvml::Device> handles_;  // by CUDA ordinal
};

}  // namespace traceinject
