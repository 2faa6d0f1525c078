// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/device_counters.h"

#include <array>
#include <iterator>
#include <utility>

#include "schemas/counters.h"

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

// A hardware counter. Its samples lie one behind the other; where some are missing it is 0 from the
// end of the last one on: a row for each beginning, and one for each end.
template <CounterId kId>
std::size_t RowsOfCounter(const Device& device) {
  return device.counters.Find(kId) == nullptr ? 0 : 2 * device.counters.size();
}
TimeNs TimeOfCounter(const Device& device, std::size_t row) {
  const CounterSamples& samples = device.counters;
  return row % 2 == 0 ? samples.start[row / 2] : samples.end[row / 2];
}
template <CounterId kId>
std::int64_t ValueOfCounter(const Device& device, std::size_t row) {
  const CounterSamples& samples = device.counters;
  const std::size_t sample = row / 2;
  if (row % 2 == 0) return samples.Find(kId)->value[sample];
  const bool goes_on =
      sample + 1 < samples.size() && samples.start[sample + 1] <= samples.end[sample];
  return goes_on ? -1 : 0;
}

template <CounterId kId>
constexpr DeviceCounter HardwareCounter() {
  constexpr CounterInfo kInfo = InfoOf(kId);
  constexpr bool kIsShare = kInfo.unit == kPermille;
  return {kInfo.name,    kIsShare ? "%" : kInfo.unit, RowsOfCounter<kId>,
          TimeOfCounter, ValueOfCounter<kId>,         kIsShare ? 0.1 : 1};
}

constexpr std::size_t kSampled = std::size(kCounters);

template <std::size_t... kOthers, std::size_t... kIds>
constexpr std::array<DeviceCounter, kSampled + kCounterIds> All(std::index_sequence<kOthers...>,
                                                                std::index_sequence<kIds...>) {
  return {kCounters[kOthers]..., HardwareCounter<static_cast<CounterId>(kIds)>()...};
}
constexpr auto kAll =
    All(std::make_index_sequence<kSampled>(), std::make_index_sequence<kCounterIds>());

}  // namespace

std::span<const DeviceCounter> DeviceCounters() { return kAll; }

}  // namespace traceinject
