// SPDX-License-Identifier: Apache-2.0
// Every counter that a recording can carry in its `health` table: the injector counts by these ids,
// the analyzer shows them with these words. A counter with value 0 is stored only where its absence
// would be ambiguous (kSeen, kStored).
#pragma once

#include <cstddef>
#include <string_view>

namespace traceinject {

enum class HealthSeverity { kInfo, kNotice, kDataLoss, kError };

struct HealthCounterInfo {
  std::string_view source;
  std::string_view counter;
  HealthSeverity severity;
  std::string_view description;
};

// The ids index kHealthCounters: keep the two in step (checked below by count, and by a unit test
// by name).
enum class Health : std::size_t {
  kKernelSeen,
  kKernelStored,
  kKernelRepaired,
  kKernelDropped,
  kMemcpySeen,
  kMemcpyStored,
  kMemcpyDropped,
  kMemsetSeen,
  kMemsetStored,
  kMemsetDropped,
  kApiSeen,
  kApiStored,
  kApiNested,
  kApiDropped,
  kSyncSeen,
  kSyncStored,
  kSyncDropped,
  kNvtxSeen,
  kNvtxStored,
  kNvtxDropped,
  kNvtxUnmatched,
  kNvtxClipped,
  kNcclSeen,
  kNcclStored,
  kNcclDropped,
  kCuptiDropped,
  kCuptiUnknown,
  kBuffersRequested,
  kBuffersCompleted,
  kBuffersExhausted,
  kBuffersPeak,
  kRingsOpened,
  kRingsRefused,
  kWriterFlushes,
  kWriterFlushMaxUs,
  kWriterFlushTotalUs,
  kWriterErrors,
  kWriterReopened,
  kFileBytes,
  kFileMaxSize,
  kStartFailed,
  kStartDisabledSource,
  kStartUnknownOption,
  kStartInvalidOption,
  kCount
};

inline constexpr HealthCounterInfo kHealthCounters[] = {
    {"kernel", "seen", HealthSeverity::kInfo, "kernel records delivered by CUPTI"},
    {"kernel", "stored", HealthSeverity::kInfo, "kernel rows written"},
    {"kernel", "repaired", HealthSeverity::kNotice,
     "kernels whose end lay before their start: stored with length 0"},
    {"kernel", "dropped", HealthSeverity::kDataLoss,
     "kernel records without times, or that could not be written"},
    {"memcpy", "seen", HealthSeverity::kInfo, "copy records delivered by CUPTI"},
    {"memcpy", "stored", HealthSeverity::kInfo, "copy rows written"},
    {"memcpy", "dropped", HealthSeverity::kDataLoss,
     "copy records without times, or that could not be written"},
    {"memset", "seen", HealthSeverity::kInfo, "memset records delivered by CUPTI"},
    {"memset", "stored", HealthSeverity::kInfo, "memset rows written"},
    {"memset", "dropped", HealthSeverity::kDataLoss,
     "memset records without times, or that could not be written"},
    {"api", "seen", HealthSeverity::kInfo, "CUDA call records delivered by CUPTI"},
    {"api", "stored", HealthSeverity::kInfo, "CUDA call rows written"},
    {"api", "nested", HealthSeverity::kInfo,
     "driver calls inside a runtime call that is stored: left out on purpose"},
    {"api", "dropped", HealthSeverity::kDataLoss, "CUDA call records that could not be written"},
    {"sync", "seen", HealthSeverity::kInfo, "event and synchronise calls seen by the wrappers"},
    {"sync", "stored", HealthSeverity::kInfo, "rows written for them"},
    {"sync", "dropped", HealthSeverity::kDataLoss,
     "lost because a thread's queue was full, or not written"},
    {"nvtx", "seen", HealthSeverity::kInfo, "NVTX events received"},
    {"nvtx", "stored", HealthSeverity::kInfo, "NVTX rows written"},
    {"nvtx", "dropped", HealthSeverity::kDataLoss,
     "NVTX events lost because a thread's queue was full, or not written"},
    {"nvtx", "unmatched", HealthSeverity::kNotice,
     "range ends without a beginning that was recorded"},
    {"nvtx", "clipped", HealthSeverity::kNotice,
     "messages or payloads longer than the limit, shortened"},
    {"nccl", "seen", HealthSeverity::kInfo, "NCCL operations announced through NVTX"},
    {"nccl", "stored", HealthSeverity::kInfo, "collective rows written"},
    {"nccl", "dropped", HealthSeverity::kDataLoss, "NCCL operations that could not be written"},
    {"cupti", "dropped", HealthSeverity::kDataLoss,
     "records that CUPTI itself dropped for lack of room"},
    {"cupti", "unknown", HealthSeverity::kNotice,
     "records of a kind that was not asked for: skipped"},
    {"buffers", "requested", HealthSeverity::kInfo, "activity buffers handed to CUPTI"},
    {"buffers", "completed", HealthSeverity::kInfo, "activity buffers that came back"},
    {"buffers", "exhausted", HealthSeverity::kDataLoss,
     "requests that found the pool empty: those records are lost"},
    {"buffers", "peak", HealthSeverity::kInfo, "most buffers in use at one time"},
    {"rings", "opened", HealthSeverity::kInfo, "threads that got an event queue"},
    {"rings", "refused", HealthSeverity::kDataLoss,
     "threads that got none (too many threads, or no memory)"},
    {"writer", "flushes", HealthSeverity::kInfo, "transactions committed"},
    {"writer", "flush_max_us", HealthSeverity::kInfo, "longest flush and commit, microseconds"},
    {"writer", "flush_total_us", HealthSeverity::kInfo,
     "time in flushes and commits, microseconds"},
    {"writer", "errors", HealthSeverity::kError, "transactions that failed"},
    {"writer", "reopened", HealthSeverity::kNotice,
     "times the file was opened again because the program closed our descriptors"},
    {"file", "bytes", HealthSeverity::kInfo, "size of the file when recording ended"},
    {"file", "max_size", HealthSeverity::kDataLoss,
     "recording stopped because TRACEINJECT_MAX_SIZE was reached"},
    {"start", "failed", HealthSeverity::kError, "recording could not start"},
    {"start", "disabled_source", HealthSeverity::kNotice, "sources that could not be turned on"},
    {"start", "unknown_option", HealthSeverity::kNotice,
     "TRACEINJECT_ variables that are no options of ours"},
    {"start", "invalid_option", HealthSeverity::kNotice,
     "options with a value that was not understood: their defaults were used"},
};
static_assert(sizeof(kHealthCounters) / sizeof(kHealthCounters[0]) ==
              static_cast<std::size_t>(Health::kCount));

}  // namespace traceinject
