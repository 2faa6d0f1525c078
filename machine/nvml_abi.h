// SPDX-License-Identifier: Apache-2.0
// What we use of NVML's binary interface, declared by us since no toolkit may be installed where
// this is built. Names and numbers: nvml.h of NVIDIA's driver 550 to 580, also published as
// constants in nvidia-ml-py (pynvml.py). Structures that grew over time are used in their first
// version only, whose functions every later driver keeps.
#pragma once

namespace traceinject::nvml {

using Return = unsigned int;
inline constexpr Return kSuccess = 0;  // NVML_SUCCESS
inline constexpr Return kNotSupported = 3;
inline constexpr Return kNoPermission = 4;

using Device = struct DeviceHandle*;  // nvmlDevice_t

struct Utilization {  // nvmlUtilization_t
  unsigned int gpu, memory;
};
struct Memory {  // nvmlMemory_t
  unsigned long long total, free, used;
};
struct PciInfo {  // nvmlPciInfo_t, as the _v3 functions fill it
  char bus_id_legacy[16];
  unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
union Value {  // nvmlValue_t
  double real;
  unsigned int u32;
  unsigned long ulong;
  unsigned long long u64;
  long long s64;
};
struct FieldValue {  // nvmlFieldValue_t
  unsigned int field;
  unsigned int scope;
  long long timestamp_us, latency_us;
  unsigned int type;
  Return result;
  Value value;
};
static_assert(sizeof(FieldValue) == 40);

// What GPM, since Hopper and driver 525, tells of two moments. nvmlGpmMetricsGet_t ends with as
// many nvmlGpmMetric_t as nvml.h counts metrics, which later versions raised; only the first
// `count` are looked at.
using GpmSample = struct GpmSampleHandle*;  // nvmlGpmSample_t
struct GpmSupport {                         // nvmlGpmSupport_t
  unsigned int version, is_supported;
};
struct GpmMetric {  // nvmlGpmMetric_t
  unsigned int metric;
  Return result;
  double value;
  char *short_name, *long_name, *unit;
};
static_assert(sizeof(GpmMetric) == 40);
inline constexpr unsigned int kMaxGpmMetrics = 98;
struct GpmMetricsGet {  // nvmlGpmMetricsGet_t
  unsigned int version, count;
  GpmSample before, after;
  GpmMetric metrics[kMaxGpmMetrics];
};
inline constexpr unsigned int kGpmVersion = 1;  // NVML_GPM_SUPPORT_VERSION, ..._METRICS_GET_VERSION

inline constexpr unsigned int kClockSm = 1, kClockMemory = 2;  // nvmlClockType_t
inline constexpr unsigned int kTemperatureGpu = 0;             // nvmlTemperatureSensors_t
inline constexpr unsigned int kPcieTx = 0, kPcieRx = 1;        // nvmlPcieUtilCounter_t, KB/s
inline constexpr unsigned int kErrorCorrected = 0, kErrorUncorrected = 1;  // nvmlMemoryErrorType_t
inline constexpr unsigned int kVolatileEcc = 0;  // nvmlEccCounterType_t: since the driver started
// nvmlNvLinkErrorCounter_t
inline constexpr unsigned int kLinkReplay = 0, kLinkRecovery = 1, kLinkCrcFlit = 2;
inline constexpr unsigned int kMaxLinks = 18;  // NVML_NVLINK_MAX_LINKS
// nvmlGpuP2PCapsIndex_t
inline constexpr unsigned int kP2pRead = 0, kP2pWrite = 1, kP2pNvLink = 2, kP2pAtomics = 3;
// NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX and _RX: KiB since the driver started; kAllLinks as scope:
// of all links together.
inline constexpr unsigned int kFieldLinkTx = 138, kFieldLinkRx = 139;
inline constexpr unsigned int kAllLinks = ~0U;
// nvmlValueType_t
inline constexpr unsigned int kTypeU32 = 1, kTypeUlong = 2, kTypeU64 = 3;

}  // namespace traceinject::nvml
