// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/links/nccl_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace traceinject {
namespace {

// -1: unknown size; 0: no bytes; else the bit width of the size, so that a bucket is [2^(w-1),
// 2^w).
int BucketOf(const std::optional<std::int64_t>& bytes) {
  if (!bytes) return -1;
  return *bytes <= 0 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(*bytes)));
}

void SetBucket(int bucket, NcclRow& row) {
  if (bucket < 0) return;
  row.bucket_low_bytes = bucket == 0 ? 0 : std::int64_t{1} << (bucket - 1);
  row.bucket_high_bytes =
      bucket >= 63 ? std::numeric_limits<std::int64_t>::max() : std::int64_t{1} << bucket;
  row.bytes = 0;
}

std::optional<double> Rate(const std::optional<std::int64_t>& bytes, TimeNs time) {
  if (!bytes || time <= 0) return std::nullopt;
  return static_cast<double>(*bytes) / static_cast<double>(time);
}

// The same on all ranks.
std::string CommunicatorName(const Rank& rank, const NcclLaunch& launch) {
  if (launch.communicator >= rank.communicators.size()) return "";
  const Communicator& communicator = rank.communicators[launch.communicator];
  if (!communicator.name.empty()) return communicator.name;
  return communicator.hash == 0 ? "" : fmt::format("{:#x}", communicator.hash);
}

void Add(const NcclLaunch& launch, NcclRow& row) {
  if (row.count == 0) row.transfer_ns = 0;
  row.exposed_ns += launch.exposed_ns;
  if (launch.channels) {
    row.channels_min = std::min(row.channels_min.value_or(*launch.channels), *launch.channels);
    row.channels_max = std::max(row.channels_max.value_or(*launch.channels), *launch.channels);
  }
  ++row.count;
  row.calls += launch.calls;
  row.kernel_ns += launch.kernel_ns;
  if (launch.bytes) row.bytes = row.bytes.value_or(0) + *launch.bytes;
  row.transfer_ns = row.transfer_ns && launch.transfer_ns
                        ? std::optional<TimeNs>(*row.transfer_ns + *launch.transfer_ns)
                        : std::nullopt;
}

}  // namespace

std::optional<double> NcclRow::algbw_gb_per_s() const { return Rate(bytes, kernel_ns); }

std::optional<double> NcclRow::busbw_gb_per_s() const {
  const std::optional<double> algbw = algbw_gb_per_s(),
                              factor = BusFactor(function, communicator_size);
  if (!algbw || !factor) return std::nullopt;
  return *algbw * *factor;
}

std::optional<double> NcclRow::transfer_busbw_gb_per_s() const {
  if (!transfer_ns) return std::nullopt;
  const std::optional<double> algbw = Rate(bytes, *transfer_ns),
                              factor = BusFactor(function, communicator_size);
  if (!algbw || !factor) return std::nullopt;
  return *algbw * *factor;
}

std::string NcclRow::busbw_reason() const {
  if (busbw_gb_per_s()) return "";
  if (calls == 0) return "kernel not linked to its NCCL call";
  if (!BusFactor(function, 2)) return "busbw is not defined for this function";
  if (!communicator_size && !BusFactor(function, std::nullopt)) return "communicator size unknown";
  if (!bytes) return "message size unknown";
  if (!BusFactor(function, communicator_size)) return "single rank: nothing is sent";
  return "no measurable kernel time";
}

std::vector<NcclRow> SummarizeNccl(const std::vector<NcclSource>& sources, bool by_communicator) {
  using Key =
      std::tuple<std::string, std::optional<int>, int, bool, std::string, std::string, std::string>;
  std::map<Key, NcclRow> rows;
  for (const NcclSource& source : sources) {
    for (const NcclLaunch& launch : source.links->launches) {
      if (!Contains(source.windows, launch.start)) continue;
      const int bucket = BucketOf(launch.bytes);
      std::string communicator = by_communicator ? CommunicatorName(*source.rank, launch) : "";
      NcclRow& row = rows[{launch.function, launch.communicator_size, bucket, launch.calls > 0,
                           launch.algorithm, launch.protocol, communicator}];
      if (row.count == 0) {
        row.function = launch.function;
        row.communicator = std::move(communicator);
        row.algorithm = launch.algorithm;
        row.protocol = launch.protocol;
        row.communicator_size = launch.communicator_size;
        SetBucket(bucket, row);
      }
      Add(launch, row);
    }
  }
  std::vector<NcclRow> list;
  for (auto& [key, row] : rows) list.push_back(std::move(row));
  std::stable_sort(list.begin(), list.end(),
                   [](const NcclRow& a, const NcclRow& b) { return a.kernel_ns > b.kernel_ns; });
  return list;
}

}  // namespace traceinject
