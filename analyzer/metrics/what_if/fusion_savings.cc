// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/fusion_savings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/model/name_patterns.h"

namespace traceinject {
namespace {

constexpr std::size_t kMin = 3;  // kernels of a run

enum class FusionPart : std::uint8_t { kOther, kPointwise, kBystander };

FusionPart PartOf(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::kElementwise:
    case KernelClass::kCopyCast:
    case KernelClass::kDropoutRng:
    case KernelClass::kRope:
    case KernelClass::kOptimizer:
      return FusionPart::kPointwise;
    case KernelClass::kNorm:
    case KernelClass::kReduce:
    case KernelClass::kSoftmaxLoss:
      return FusionPart::kBystander;
    default:
      return FusionPart::kOther;
  }
}

std::int64_t ThreadsOf(const KernelShape& shape) {
  std::int64_t threads = 1;
  for (const auto* sizes : {shape.grid, shape.block}) {
    for (int i = 0; i < 3; ++i) threads *= std::max<std::int64_t>(sizes[i], 1);
  }
  return threads;
}

class FusionSearch {
 public:
  FusionSearch(const Rank& rank, const Device& device) : rank_(rank), ops_(device.ops) {
    for (const KernelShape& shape : rank.shapes) {
      const std::string_view name = rank.string(shape.name);
      // Each has done its work in one pass, over other data than the next.
      const bool fused = MatchesAny(name, "multi_tensor_apply|^triton_");
      parts_.push_back(fused ? FusionPart::kOther : PartOf(shape.kernel_class));
      threads_.push_back(ThreadsOf(shape));
    }
  }

  KernelSaving Find(OpRange range) {
    if (std::find(parts_.begin(), parts_.end(), FusionPart::kPointwise) == parts_.end()) return {};
    for (auto op = static_cast<std::uint32_t>(range.begin); op < range.end; ++op) {
      if (ops_.kind[op] != OpKind::kKernel) continue;
      kernels_ns_ += LengthOf(op);
      const std::uint32_t shape = ops_.detail[op];
      if (parts_[shape] == FusionPart::kPointwise) RunOf(op).emplace_back(threads_[shape], op);
      if (parts_[shape] == FusionPart::kOther) End(RunOf(op));
    }
    for (Run& run : runs_) End(run);
    SortByRow(saving_.lengths, 0);
    std::sort(saving_.gone.begin(), saving_.gone.end());
    if (!saving_.lengths.empty()) Tell();
    return std::move(saving_);
  }

 private:
  // Pointwise kernels of one stream since the last one of another kind, with their threads.
  using Run = std::vector<std::pair<std::int64_t, std::uint32_t>>;

  Run& RunOf(std::uint32_t op) {
    const std::uint32_t stream = ops_.stream[op];
    if (stream >= runs_.size()) runs_.resize(stream + 1);
    return runs_[stream];
  }
  double LengthOf(std::uint32_t op) const {
    return static_cast<double>(ops_.end[op] - ops_.start[op]);
  }
  std::uint32_t NameOf(std::uint32_t op) const { return rank_.shapes[ops_.detail[op]].name; }

  void End(Run& run) {
    if (run.size() >= kMin) {
      const std::size_t before = saving_.lengths.size();
      std::stable_sort(run.begin(), run.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (auto first = run.begin(); first != run.end();) {
        const auto end = std::find_if(first, run.end(),
                                      [&](const auto& next) { return next.first != first->first; });
        Fuse(first, end);
        first = end;
      }
      SortByRow(saving_.lengths, before);
    }
    run.clear();
  }

  // Those of equally many threads, in their order.
  void Fuse(Run::const_iterator first, Run::const_iterator end) {
    alike_.clear();
    for (auto at = first; at != end; ++at) {
      if (at == first || NameOf(at->second) != NameOf((at - 1)->second))
        alike_.push_back(at->second);
    }
    if (alike_.size() < kMin) return;
    double all_ns = 0, longest_ns = 0;
    for (const std::uint32_t op : alike_) {
      all_ns += LengthOf(op);
      longest_ns = std::max(longest_ns, LengthOf(op));
    }
    if (all_ns <= 0) return;
    const double share = (longest_ns + kKeptOfOthers * (all_ns - longest_ns)) / all_ns;
    for (const std::uint32_t op : alike_)
      saving_.lengths.push_back({op, static_cast<TimeNs>(std::llround(share * LengthOf(op)))});
    for (std::size_t i = 1; i < alike_.size(); ++i) {
      const std::uint32_t launch = ops_.launch[alike_[i]];
      if (launch != kNone && ops_.graph_node[alike_[i]] == kNone) saving_.gone.push_back(launch);
    }
    most_ = std::max(most_, alike_.size());
    fused_ns_ += all_ns;
    ++fused_;
  }

  void Tell() {
    saving_.label = "memory_bound";
    saving_.what = "elementwise kernels run one after another over the same number of elements";
    saving_.instead = "fused they would take";
    saving_.facts.push_back(fmt::format(
        "{} sequences of such kernels in all steps, {:.1f} kernels on average, at most {}; {:.0f} "
        "% of the kernel time",
        fused_, static_cast<double>(saving_.lengths.size()) / static_cast<double>(fused_), most_,
        100 * fused_ns_ / kernels_ns_));
    saving_.facts.push_back(fmt::format(
        "assumed: a fused sequence takes as long as its longest kernel plus {:.0f} % of the others",
        100 * kKeptOfOthers));
  }

  const Rank& rank_;
  const GpuOps& ops_;
  std::vector<FusionPart> parts_;      // by kernel shape
  std::vector<std::int64_t> threads_;  // likewise
  std::vector<Run> runs_;              // by stream
  std::vector<std::uint32_t> alike_;
  KernelSaving saving_;
  std::size_t most_ = 0;
  std::int64_t fused_ = 0;
  double fused_ns_ = 0, kernels_ns_ = 0;
};

}  // namespace

KernelSaving FindFusionSaving(const Rank& rank, const Device& device, OpRange range) {
  return FusionSearch(rank, device).Find(range);
}

}  // namespace traceinject
