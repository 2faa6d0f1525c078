// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/device_counters.h"

namespace traceinject {
namespace {

template <auto Table>
std::size_t Rows(const Device& device) {
  return (device.*Table).size();
}
template <auto Table>
TimeNs Time(const Device& device, std::size_t row) {
  return (device.*Table).time[row];
}
template <auto Table, auto Column>
std::int64_t Value(const Device& device, std::size_t row) {
  return ((device.*Table).*Column)[row];
}

template <auto Table, auto Column>
constexpr DeviceCounter Counter(std::string_view name, std::string_view unit, double scale = 1) {
  return {name, unit, Rows<Table>, Time<Table>, Value<Table, Column>, scale};
}

constexpr auto kFast = &Device::samples;
constexpr auto kSlow = &Device::slow_samples;
constexpr auto kAllocator = &Device::allocator;

constexpr DeviceCounter kCounters[] = {
    Counter<kFast, &DeviceSamples::sm_utilisation_pct>("GPU busy", "%"),
    Counter<kFast, &DeviceSamples::memory_utilisation_pct>("device memory busy", "%"),
    Counter<kFast, &DeviceSamples::memory_used_bytes>("device memory used", "bytes"),
    Counter<kAllocator, &AllocatorSamples::allocated_bytes>("PyTorch memory in tensors", "bytes"),
    Counter<kAllocator, &AllocatorSamples::reserved_bytes>("PyTorch memory reserved", "bytes"),
    Counter<kFast, &DeviceSamples::sm_clock_mhz>("SM clock", "MHz"),
    Counter<kFast, &DeviceSamples::memory_clock_mhz>("memory clock", "MHz"),
    Counter<kFast, &DeviceSamples::power_mw>("power", "W", 1e-3),
    Counter<kFast, &DeviceSamples::temperature_c>("temperature", "C"),
    Counter<kSlow, &DeviceSlowSamples::pcie_tx_bytes_s>("PCIe sent", "bytes/s"),
    Counter<kSlow, &DeviceSlowSamples::pcie_rx_bytes_s>("PCIe received", "bytes/s"),
};

}  // namespace

std::span<const DeviceCounter> DeviceCounters() { return kCounters; }

}  // namespace traceinject
