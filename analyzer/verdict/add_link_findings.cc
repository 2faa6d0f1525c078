// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/add_link_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/metrics/gpu/documents.h"
#include "analyzer/metrics/links/collectives.h"
#include "analyzer/model/intervals.h"

namespace traceinject {
namespace {

// Advised are 25 to 100 MB. Buckets are filled by whole tensors, so that some come out smaller or
// larger than what was set.
constexpr std::int64_t kSmallBucketBytes = 20'000'000, kLargeBucketBytes = 125'000'000;
// In a model with fewer gradients than two advised buckets there is nothing to choose.
constexpr std::int64_t kFewGradientBytes = 50'000'000;
constexpr double kWorthAWord = 0.05, kSlow = 0.5;

// Exchanges of gradients in the regular steps.
struct Buckets {
  std::vector<std::int64_t> bytes;
  std::int64_t total_bytes = 0;
  TimeNs kernel_ns = 0;
  bool scattered = false;  // by ReduceScatter, as FSDP does
};

bool OnAutogradThread(const Rank& rank, const NcclLaunch& launch) {
  return launch.first_call != kNone &&
         rank.threads[rank.collectives.thread[launch.first_call]].name.starts_with("pt_autograd");
}

Buckets Collect(const Rank& rank, const NcclLinks& links, const Intervals& times) {
  const bool threads =
      std::any_of(links.launches.begin(), links.launches.end(),
                  [&](const NcclLaunch& launch) { return OnAutogradThread(rank, launch); });
  Buckets found;
  for (const NcclLaunch& launch : links.launches) {
    const bool scattered = launch.function == "ReduceScatter";
    const bool gradients =
        threads ? OnAutogradThread(rank, launch) : launch.bytes.value_or(0) >= kLatencyBoundBytes;
    if (!launch.bytes || !gradients || (!scattered && launch.function != "AllReduce") ||
        !Contains(times, launch.start))
      continue;
    found.bytes.push_back(*launch.bytes);
    found.total_bytes += *launch.bytes;
    found.kernel_ns += launch.kernel_ns;
    found.scattered |= scattered;
  }
  return found;
}

std::int64_t MedianOf(std::vector<std::int64_t>& bytes) {
  const auto middle = bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2);
  std::nth_element(bytes.begin(), middle, bytes.end());
  return *middle;
}

// What decides how fast it goes over this way.
std::string_view SettingsOf(NcclTransport way) {
  switch (way) {
    case NcclTransport::kGpuToGpu:
      return "NCCL_ALGO, NCCL_PROTO, NCCL_MAX_NCHANNELS, NCCL_NVLS_ENABLE";
    case NcclTransport::kHostMemory:
      return "NCCL_P2P_DISABLE, NCCL_P2P_LEVEL, NCCL_MAX_NCHANNELS";
    case NcclTransport::kNetwork:
      return "NCCL_IB_HCA, NCCL_NET_GDR_LEVEL, NCCL_IB_QPS_PER_CONNECTION, NCCL_ALGO, NCCL_PROTO";
    case NcclTransport::kSockets:
      return "NCCL_IB_DISABLE, NCCL_SOCKET_IFNAME, NCCL_SOCKET_NTHREADS, NCCL_NSOCKS_PERTHREAD";
    case NcclTransport::kUnknown:
      break;
  }
  return "NCCL_ALGO, NCCL_PROTO, NCCL_MAX_NCHANNELS, NCCL_P2P_LEVEL, NCCL_NVLS_ENABLE";
}

void Add(std::string_view name, std::string text, std::string_view setting, std::string_view change,
         std::string_view source, proto::DeviceReport& to) {
  proto::LinkFinding& one = *to.add_link_findings();
  one.set_name(std::string(name));
  one.set_text(std::move(text));
  one.set_setting(std::string(setting));
  one.set_change(std::string(change));
  one.set_source(std::string(source));
}

}  // namespace

void AddBucketFindings(const DeviceAnalysis& judged, proto::DeviceReport& to) {
  const Rank& rank = *judged.rank;
  const auto steps = static_cast<std::int64_t>(judged.steps.count_judged());
  if (judged.steps.source == StepSource::kWindow || steps == 0 || rank.collectives.size() == 0)
    return;
  const Intervals times = judged.steps.judged_times();
  Buckets buckets = Collect(rank, LinkNccl(rank, *judged.device), times);
  if (buckets.total_bytes < steps * kFewGradientBytes ||
      static_cast<double>(buckets.kernel_ns) < kWorthAWord * static_cast<double>(Length(times)))
    return;
  const std::int64_t median = MedianOf(buckets.bytes);
  const bool small = median < kSmallBucketBytes;
  if (!small && median <= kLargeBucketBytes) return;
  const std::string text = fmt::format(
      "gradients are exchanged in buckets of {} (median), {} per step; 25 to 100 MB is recommended",
      FormatBytes(median), FormatCount(static_cast<std::int64_t>(buckets.bytes.size()) / steps));
  if (buckets.scattered) {
    Add(small ? "small_buckets" : "large_buckets", text,
        small ? "FSDP: fully_shard on larger parts of the model (wrapping policy)"
              : "FSDP: fully_shard on smaller parts of the model (wrapping policy)",
        small ? "small messages do not reach the link rate"
              : "large pieces start late and overlap little with compute",
        documents::kFsdp, to);
  } else {
    Add(small ? "small_buckets" : "large_buckets", text,
        "DistributedDataParallel(bucket_cap_mb=50)",
        small ? "small messages do not reach the link rate"
              : "a large bucket fills late, so its exchange overlaps little with compute",
        documents::kDdp, to);
  }
}

std::optional<std::int64_t> MedianBucketBytes(const DeviceAnalysis& judged) {
  if (judged.rank->collectives.size() == 0) return std::nullopt;
  Buckets buckets =
      Collect(*judged.rank, LinkNccl(*judged.rank, *judged.device), judged.steps.judged_times());
  if (buckets.bytes.empty()) return std::nullopt;
  return MedianOf(buckets.bytes);
}

void AddSlowCommunication(std::string_view label, NcclTransport way, proto::DeviceReport& to) {
  const proto::RankLink& link = to.nccl().link();
  if (label != "comm_exposed" || !to.nccl().has_link() || link.waiting_included() ||
      !link.has_link_share() || link.link_share() >= kSlow)
    return;
  Add("slow_communication",
      fmt::format("operations of 8 MiB and more reach {:.1f} GB/s without waiting, {:.0f} % of {} "
                  "({:.3g} GB/s)",
                  link.busbw_gb_per_s(), 100 * link.link_share(), link.name(),
                  link.link_gb_per_s()),
      SettingsOf(way),
      "unset variables that limit NCCL and compare with nccl-tests' all_reduce_perf on the same "
      "GPUs; concurrent kernels also slow the exchange",
      documents::kNcclVariables, to);
}

}  // namespace traceinject
