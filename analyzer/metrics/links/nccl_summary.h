// SPDX-License-Identifier: Apache-2.0
// NCCL work by function, communicator size and message size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/metrics/links/collectives.h"
#include "analyzer/model/intervals.h"

namespace traceinject {

// Launches of one function, algorithm and protocol on communicators of one size, with messages in
// [bucket_low, bucket_high). Rates are in bytes per nanosecond, which is 10^9 bytes per second; for
// definitions see collectives.h.
struct NcclRow {
  std::string function, algorithm, protocol;  // as in NcclLaunch
  std::optional<int> communicator_size;
  std::optional<std::int64_t> bucket_low_bytes,
      bucket_high_bytes;  // powers of two; empty: size unknown
  std::int64_t count = 0, calls = 0;
  std::optional<std::int64_t> bytes;  // sum of S; empty: unknown
  TimeNs kernel_ns = 0;
  TimeNs exposed_ns = 0;                          // sum of that of the launches
  std::optional<int> channels_min, channels_max;  // empty: not reported
  std::string communicator;           // name or hash, if rows are told apart by it; empty: unknown
  std::optional<TimeNs> transfer_ns;  // empty unless it is known for every launch of the row

  std::optional<double> algbw_gb_per_s() const;
  std::optional<double> busbw_gb_per_s() const;
  std::optional<double> transfer_busbw_gb_per_s() const;
  // Why there is no busbw, in a few words; empty if there is one.
  std::string busbw_reason() const;
  bool latency_bound() const { return bucket_low_bytes && *bucket_low_bytes < kLatencyBoundBytes; }
};

// Launches of one device, of which those count that start in the windows.
struct NcclSource {
  const Rank* rank = nullptr;
  const NcclLinks* links = nullptr;
  Intervals windows;
};

// By kernel time, largest first. O(launches log rows).
std::vector<NcclRow> SummarizeNccl(const std::vector<NcclSource>& sources,
                                   bool by_communicator = false);

}  // namespace traceinject
