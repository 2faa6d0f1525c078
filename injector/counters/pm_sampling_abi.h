// SPDX-License-Identifier: Apache-2.0
// What we use of CUPTI's PM sampling and of the profiler host interface that goes with it, declared
// by us since toolkits before CUDA 12.6 have no headers for it. Names, order and types of members:
// cupti_pmsampling.h, cupti_profiler_host.h, cupti_profiler_target.h, cupti_target.h and
// cupti_result.h of CUDA 12.6 and 13.0. Members are only ever added at the end, and the size at the
// head says which a caller knows: these are the sizes of 12.6, which later versions take.
// pm_sampling_abi_test.cc holds them against the real headers where they are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace traceinject::pm {

using Result = int;  // CUptiResult
inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidParameter = 1;
inline constexpr Result kInvalidContext = 3;
inline constexpr Result kInvalidOperation = 7;
inline constexpr Result kOutOfMemory = 8;
inline constexpr Result kHardware = 9;
inline constexpr Result kNotInitialized = 15;
inline constexpr Result kInvalidMetricName = 17;
inline constexpr Result kHardwareBusy = 26;
inline constexpr Result kNotSupported = 27;
inline constexpr Result kVirtualizedNotSupported = 33;
inline constexpr Result kInsufficientPrivileges = 35;
inline constexpr Result kVirtualizedInsufficientPrivileges = 40;
inline constexpr Result kConfidentialNotSupported = 41;
inline constexpr Result kCmpNotSupported = 42;
inline constexpr Result kMigNotSupported = 43;
inline constexpr Result kSliNotSupported = 44;
inline constexpr Result kWslNotSupported = 45;
inline constexpr Result kInvalidChipName = 46;
inline constexpr Result kUnknown = 999;

using Sampling = struct SamplingObject;  // CUpti_PmSampling_Object
using Host = struct HostObject;          // CUpti_Profiler_Host_Object

// How far a structure reaches, as its STRUCT_SIZE has it: without the padding behind its last
// member.
// NOLINTNEXTLINE(bugprone-sizeof-expression): of the pointer, where the last member is one
#define TRACEINJECT_PM_SIZE(type, last) (offsetof(type, last) + sizeof(type::last))
// The head of each structure.
template <typename Params>
Params Make() {
  Params params{};
  params.size = Params::Size();
  return params;
}

// cuptiProfilerInitialize
struct ProfilerInitialize {
  std::size_t size;
  void* priv;
  static constexpr std::size_t Size();
};
constexpr std::size_t ProfilerInitialize::Size() {
  return TRACEINJECT_PM_SIZE(ProfilerInitialize, priv);
}

// cuptiDeviceGetChipName
struct GetChipName {
  std::size_t size;
  void* priv;
  std::size_t device;
  const char* chip;  // out
  static constexpr std::size_t Size();
};
constexpr std::size_t GetChipName::Size() { return TRACEINJECT_PM_SIZE(GetChipName, chip); }

inline constexpr int kTypePmSampling = 1;  // CUpti_ProfilerType

// cuptiProfilerHostInitialize
struct HostInitialize {
  std::size_t size;
  void* priv;
  int type;
  const char* chip;
  const std::uint8_t* availability;
  Host* host;  // out
  static constexpr std::size_t Size();
};
constexpr std::size_t HostInitialize::Size() { return TRACEINJECT_PM_SIZE(HostInitialize, host); }

// cuptiProfilerHostDeinitialize
struct HostDeinitialize {
  std::size_t size;
  void* priv;
  Host* host;
  static constexpr std::size_t Size();
};
constexpr std::size_t HostDeinitialize::Size() {
  return TRACEINJECT_PM_SIZE(HostDeinitialize, host);
}

// cuptiProfilerHostConfigAddMetrics
struct ConfigAddMetrics {
  std::size_t size;
  void* priv;
  Host* host;
  const char** metrics;
  std::size_t count;
  static constexpr std::size_t Size();
};
constexpr std::size_t ConfigAddMetrics::Size() {
  return TRACEINJECT_PM_SIZE(ConfigAddMetrics, count);
}

// cuptiProfilerHostGetConfigImageSize
struct GetConfigImageSize {
  std::size_t size;
  void* priv;
  Host* host;
  std::size_t bytes;  // out
  static constexpr std::size_t Size();
};
constexpr std::size_t GetConfigImageSize::Size() {
  return TRACEINJECT_PM_SIZE(GetConfigImageSize, bytes);
}

// cuptiProfilerHostGetConfigImage
struct GetConfigImage {
  std::size_t size;
  void* priv;
  Host* host;
  std::size_t bytes;
  std::uint8_t* image;
  static constexpr std::size_t Size();
};
constexpr std::size_t GetConfigImage::Size() { return TRACEINJECT_PM_SIZE(GetConfigImage, image); }

// cuptiProfilerHostGetNumOfPasses
struct GetNumOfPasses {
  std::size_t size;
  void* priv;
  std::size_t bytes;
  std::uint8_t* image;
  std::size_t passes;  // out
  static constexpr std::size_t Size();
};
constexpr std::size_t GetNumOfPasses::Size() { return TRACEINJECT_PM_SIZE(GetNumOfPasses, passes); }

// cuptiProfilerHostEvaluateToGpuValues
struct EvaluateToGpuValues {
  std::size_t size;
  void* priv;
  Host* host;
  const std::uint8_t* image;
  std::size_t bytes;
  std::size_t index;  // of the sample
  const char** metrics;
  std::size_t count;
  double* values;  // out
  static constexpr std::size_t Size();
};
constexpr std::size_t EvaluateToGpuValues::Size() {
  return TRACEINJECT_PM_SIZE(EvaluateToGpuValues, values);
}

// cuptiPmSamplingGetCounterAvailability
struct GetCounterAvailability {
  std::size_t size;
  void* priv;
  std::size_t device;
  std::size_t bytes;    // out where there is no image
  std::uint8_t* image;  // out
  static constexpr std::size_t Size();
};
constexpr std::size_t GetCounterAvailability::Size() {
  return TRACEINJECT_PM_SIZE(GetCounterAvailability, image);
}

// cuptiPmSamplingEnable
struct Enable {
  std::size_t size;
  void* priv;
  std::size_t device;
  Sampling* sampling;  // out
  static constexpr std::size_t Size();
};
constexpr std::size_t Enable::Size() { return TRACEINJECT_PM_SIZE(Enable, sampling); }

// cuptiPmSamplingDisable, cuptiPmSamplingStart and cuptiPmSamplingStop
struct OfSampling {
  std::size_t size;
  void* priv;
  Sampling* sampling;
  static constexpr std::size_t Size();
};
constexpr std::size_t OfSampling::Size() { return TRACEINJECT_PM_SIZE(OfSampling, sampling); }

// CUpti_PmSampling_TriggerMode: by the system clock, whose frequency varies, in cycles; or, not on
// Turing and GA100, by the time, in ns.
inline constexpr int kTriggerCycles = 0, kTriggerTime = 1;

// cuptiPmSamplingSetConfig. What later versions have behind it stays at its default: where the
// buffer is full, the oldest samples are kept and the overflow is told.
struct SetConfig {
  std::size_t size;
  void* priv;
  Sampling* sampling;
  std::size_t config_bytes;
  const std::uint8_t* config;
  std::size_t buffer_bytes;
  std::uint64_t interval;
  int trigger;
  static constexpr std::size_t Size();
};
constexpr std::size_t SetConfig::Size() { return TRACEINJECT_PM_SIZE(SetConfig, trigger); }

// cuptiPmSamplingGetCounterDataSize
struct GetCounterDataSize {
  std::size_t size;
  void* priv;
  Sampling* sampling;
  const char** metrics;
  std::size_t count;
  std::uint32_t most_samples;
  std::size_t bytes;  // out
  static constexpr std::size_t Size();
};
constexpr std::size_t GetCounterDataSize::Size() {
  return TRACEINJECT_PM_SIZE(GetCounterDataSize, bytes);
}

// cuptiPmSamplingCounterDataImageInitialize
struct ImageInitialize {
  std::size_t size;
  void* priv;
  Sampling* sampling;
  std::size_t bytes;
  std::uint8_t* image;
  static constexpr std::size_t Size();
};
constexpr std::size_t ImageInitialize::Size() {
  return TRACEINJECT_PM_SIZE(ImageInitialize, image);
}

// CUpti_PmSampling_DecodeStopReason
inline constexpr int kStoppedImageFull = 1, kStoppedAtEnd = 2;

// cuptiPmSamplingDecodeData
struct DecodeData {
  std::size_t size;
  void* priv;
  Sampling* sampling;
  std::uint8_t* image;
  std::size_t bytes;
  int stopped;            // out
  std::uint8_t overflow;  // out
  static constexpr std::size_t Size();
};
constexpr std::size_t DecodeData::Size() { return TRACEINJECT_PM_SIZE(DecodeData, overflow); }

// cuptiPmSamplingGetCounterDataInfo
struct GetCounterDataInfo {
  std::size_t size;
  void* priv;
  const std::uint8_t* image;
  std::size_t bytes;
  std::size_t total, populated, completed;  // out, samples
  static constexpr std::size_t Size();
};
constexpr std::size_t GetCounterDataInfo::Size() {
  return TRACEINJECT_PM_SIZE(GetCounterDataInfo, completed);
}

// cuptiPmSamplingCounterDataGetSampleInfo
struct GetSampleInfo {
  std::size_t size;
  void* priv;
  Sampling* sampling;
  const std::uint8_t* image;
  std::size_t bytes;
  std::size_t index;
  std::uint64_t start, end;  // out, ns of the GPU's clock
  static constexpr std::size_t Size();
};
constexpr std::size_t GetSampleInfo::Size() { return TRACEINJECT_PM_SIZE(GetSampleInfo, end); }

#undef TRACEINJECT_PM_SIZE

}  // namespace traceinject::pm
