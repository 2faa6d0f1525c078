// SPDX-License-Identifier: Apache-2.0
// What is found of a machine and its devices, as rows of schemas/run_db.sql (injector/rows/rows.h
// holds the others). Times are ns relative to the base of the recording.
#pragma once

#include <cstdint>
#include <string>

namespace traceinject {

struct DeviceRow {
  int device;
  std::string name, uuid, pci_bus_id;
  // -1: unknown
  int sm_count, cc_major, cc_minor, sm_clock_khz, memory_clock_khz, memory_bus_bits;
  std::int64_t memory_bytes, l2_bytes;
};
struct SystemFactRow {
  std::string kind, key, value;
  std::string reason;  // why the value is unknown; empty: it is known
};                     // replaces the row of that name

// Samples: -1 is unknown.
struct DeviceSampleRow {
  std::int64_t time;
  int device;
  std::int64_t sm_clock_mhz, memory_clock_mhz, power_mw, temperature_c, throttle_reasons;
  std::int64_t sm_utilisation_pct, memory_utilisation_pct, memory_used_bytes;
};
struct DeviceSlowSampleRow {
  std::int64_t time;
  int device;
  std::int64_t pcie_generation, pcie_width, pcie_tx_bytes_s, pcie_rx_bytes_s, pcie_replays;
  std::int64_t nvlink_tx_bytes, nvlink_rx_bytes;
  std::int64_t nvlink_replays, nvlink_recoveries, nvlink_crc_errors;
  std::int64_t ecc_corrected, ecc_uncorrected;
};

}  // namespace traceinject
