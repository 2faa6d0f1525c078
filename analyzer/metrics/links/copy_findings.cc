// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/links/copy_findings.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "analyzer/common/units.h"
#include "analyzer/metrics/gpu/documents.h"
#include "analyzer/metrics/idle/copies.h"

namespace traceinject {
namespace {

constexpr std::int64_t kLargeBytes = 1 << 20;
constexpr double kWorthAWord = 0.02, kSlow = 0.5;

// Of CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind.
constexpr std::uint8_t kUpload = kHostToDevice, kDownload = kDeviceToHost;

struct Advice {
  std::uint8_t kind, host_memory;
  std::string_view name, what, setting, change, source;
};
constexpr std::string_view kSlowSetting =
    "bind processes to the CPUs nearest their GPU; check the card's slot";
constexpr std::string_view kSlowChange =
    "pinned copies usually reach 80 % of the link: memory on another NUMA node, a shared switch or "
    "other traffic slows them down";
constexpr Advice kAdvice[] = {
    {kUpload, kPageable, "pageable_uploads", "copies from pageable memory to the GPU",
     "DataLoader(pin_memory=True), tensor.to(device, non_blocking=True)",
     "from pinned memory they run at link speed, and the host does not wait for them",
     documents::kTorchCuda},
    {kDownload, kPageable, "pageable_downloads", "copies from the GPU to pageable memory",
     "copy_(x, non_blocking=True) into tensors from torch.empty(..., pin_memory=True)",
     "to pinned memory they run at link speed; synchronize before reading them",
     documents::kTorchCuda},
    {kUpload, kPinned, "slow_uploads", "copies from pinned memory to the GPU", kSlowSetting,
     kSlowChange, documents::kCudaPractices},
    {kDownload, kPinned, "slow_downloads", "copies from the GPU to pinned memory", kSlowSetting,
     kSlowChange, documents::kCudaPractices},
};

const Advice* AdviceOn(const CopyStats& copies) {
  for (const Advice& advice : kAdvice) {
    const std::uint8_t host = copies.kind == kUpload ? copies.src_kind : copies.dst_kind;
    if (!copies.is_memset && copies.kind == advice.kind && host == advice.host_memory)
      return &advice;
  }
  return nullptr;
}

}  // namespace

std::string RateAgainst(double gb_per_s, const std::optional<HostLink>& link) {
  const std::string rate = fmt::format("{:.1f} GB/s", gb_per_s);
  if (!link) return rate + "; the link's rate was not recorded";
  return fmt::format("{}, {:.1f} % of {} ({:.3g} GB/s)", rate, 100 * gb_per_s / link->gb_per_s,
                     link->name, link->gb_per_s);
}

std::vector<LinkFinding> FindInCopies(const std::vector<CopyStats>& copies,
                                      const std::optional<HostLink>& link, TimeNs busy_ns) {
  std::vector<LinkFinding> findings;
  for (const CopyStats& group : copies) {
    const Advice* advice = AdviceOn(group);
    const std::optional<double> rate = group.gb_per_s();
    if (advice == nullptr || !rate || group.bytes < kLargeBytes * group.count) continue;
    const double share =
        busy_ns <= 0 ? 0 : static_cast<double>(group.total_ns) / static_cast<double>(busy_ns);
    if (share < kWorthAWord) continue;
    if (advice->host_memory == kPinned && (!link || *rate >= kSlow * link->gb_per_s)) continue;
    findings.push_back({std::string(advice->name),
                        fmt::format("{}: {} in {}, {:.1f} % of GPU busy time; {}", advice->what,
                                    FormatBytes(group.bytes), FormatTime(group.total_ns),
                                    100 * share, RateAgainst(*rate, link)),
                        std::string(advice->setting), std::string(advice->change),
                        std::string(advice->source)});
  }
  return findings;
}

}  // namespace traceinject
