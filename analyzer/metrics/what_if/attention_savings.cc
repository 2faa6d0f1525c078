// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/attention_savings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "analyzer/metrics/gpu/gpu_specs.h"
#include "analyzer/metrics/kernels/kernel_signs.h"
#include "analyzer/metrics/kernels/kernel_work.h"
#include "analyzer/metrics/kernels/matrix_products.h"

namespace traceinject {
namespace {

// Between a product and the softmax: more are something else.
constexpr std::size_t kMaxBetween = 12;
constexpr double kBackwardWork = 1.25;  // five products instead of four
// Copies of operands next to a product that a fused call does without: those of queries and keys
// before the scores, that of the heads' output after it; likewise of the gradients.
constexpr std::size_t kOperandsForward = 2, kResultsForward = 1;
constexpr std::size_t kOperandsBackward = 2, kResultsBackward = 3;

enum class AttentionPart : std::uint8_t { kOther, kProduct, kLight, kForward, kBackward };

bool IsLight(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::kElementwise:
    case KernelClass::kCopyCast:
    case KernelClass::kDropoutRng:
    case KernelClass::kReduce:
      return true;
    default:
      return false;
  }
}

class AttentionSearch {
 public:
  AttentionSearch(const Rank& rank, const Device& device, const LibraryCalls& calls)
      : rank_(rank), ops_(device.ops), calls_(calls), spec_(FindGpuSpec(device.name)) {
    for (const KernelShape& shape : rank.shapes) {
      parts_.push_back(PartOf(shape));
      traits_.push_back(TraitsOf(rank.string(shape.name), shape.kernel_class));
      const std::string_view dtype = traits_.back().dtype;
      sixteen_bit_ |=
          parts_.back() == AttentionPart::kProduct && (dtype == "bf16" || dtype == "fp16");
      softmax_ |=
          parts_.back() == AttentionPart::kForward || parts_.back() == AttentionPart::kBackward;
    }
  }

  KernelSaving Find(OpRange range) {
    if (!softmax_) return {};
    rows_.resize(rank_.streams.size());
    for (auto op = static_cast<std::uint32_t>(range.begin); op < range.end; ++op) {
      if (ops_.kind[op] == OpKind::kKernel && ops_.stream[op] < rows_.size())
        rows_[ops_.stream[op]].push_back(op);
    }
    for (const std::vector<std::uint32_t>& rows : rows_) SearchStream(rows);
    SortByRow(saving_.lengths, 0);
    std::sort(saving_.gone.begin(), saving_.gone.end());
    if (!saving_.lengths.empty()) Tell();
    return std::move(saving_);
  }

 private:
  AttentionPart PartOf(const KernelShape& shape) const {
    const std::string_view name = rank_.string(shape.name);
    if (IsPlainSoftmax(name))
      return IsSoftmaxBackward(name) ? AttentionPart::kBackward : AttentionPart::kForward;
    if (IsLight(shape.kernel_class) || IsHelperKernel(name)) return AttentionPart::kLight;
    return shape.kernel_class == KernelClass::kGemm ? AttentionPart::kProduct
                                                    : AttentionPart::kOther;
  }
  AttentionPart PartOf(std::uint32_t op) const { return parts_[ops_.detail[op]]; }

  // Null: not known.
  const GemmShape* ShapeOf(std::uint32_t op) const {
    const std::uint32_t product = calls_.ProductOf(ops_.launch[op]);
    return product == kNone ? nullptr : &rank_.gemm_shapes[rank_.gemms.shape[product]];
  }

  bool IsOneOfMany(std::uint32_t op) const {
    const GemmShape* shape = ShapeOf(op);
    return shape == nullptr || shape->batch > 1;
  }

  // Indices of the products nearest to `at` in one direction, up to `most`, the nearest first.
  std::vector<std::size_t> Nearest(const std::vector<std::uint32_t>& rows, std::size_t at, int step,
                                   std::size_t first, std::size_t most) const {
    std::vector<std::size_t> found;
    std::size_t between = 0;
    while (found.size() < most && between <= kMaxBetween) {
      if (step < 0 ? at == first : at + 1 == rows.size()) break;
      at += static_cast<std::size_t>(step);
      const AttentionPart part = PartOf(rows[at]);
      if (part == AttentionPart::kLight) {
        ++between;
        continue;
      }
      if (part != AttentionPart::kProduct || !IsOneOfMany(rows[at])) break;
      found.push_back(at);
      between = 0;
    }
    return found;
  }

  void SearchStream(const std::vector<std::uint32_t>& rows) {
    std::size_t free = 0;  // what lies before belongs to one already
    for (std::size_t at = 0; at < rows.size(); ++at) {
      const AttentionPart part = PartOf(rows[at]);
      if (part != AttentionPart::kForward && part != AttentionPart::kBackward) continue;
      const std::size_t most = part == AttentionPart::kForward ? 1 : 2;
      std::vector<std::size_t> products = Nearest(rows, at, -1, free, most);
      const std::vector<std::size_t> after = Nearest(rows, at, 1, free, most);
      if (products.empty() || after.empty()) continue;
      const bool backward = part == AttentionPart::kBackward;
      const std::size_t begin = WithCopiesBefore(rows, products.back(), free, backward),
                        end = WithCopiesAfter(rows, after.back() + 1, backward);
      products.insert(products.end(), after.begin(), after.end());
      if (!SameBatch(rows, products)) continue;
      Add(rows, begin, end, products, backward);
      free = end;
    }
  }

  // Of the operands, or of the result, in another layout.
  bool IsCopy(std::uint32_t op) const { return ops_.kernel_class[op] == KernelClass::kCopyCast; }
  std::size_t WithCopiesBefore(const std::vector<std::uint32_t>& rows, std::size_t begin,
                               std::size_t first, bool backward) const {
    const std::size_t most = backward ? kOperandsBackward : kOperandsForward;
    for (std::size_t i = 0; i < most && begin > first && IsCopy(rows[begin - 1]); ++i) --begin;
    return begin;
  }
  std::size_t WithCopiesAfter(const std::vector<std::uint32_t>& rows, std::size_t end,
                              bool backward) const {
    const std::size_t most = backward ? kResultsBackward : kResultsForward;
    for (std::size_t i = 0; i < most && end < rows.size() && IsCopy(rows[end]); ++i) ++end;
    return end;
  }

  bool SameBatch(const std::vector<std::uint32_t>& rows,
                 const std::vector<std::size_t>& products) const {
    std::optional<std::int64_t> batch;
    for (const std::size_t at : products) {
      const GemmShape* shape = ShapeOf(rows[at]);
      if (shape != nullptr && batch.value_or(shape->batch) != shape->batch) return false;
      if (shape != nullptr) batch = shape->batch;
    }
    return true;
  }

  // All from the first to the last product, and the copies around them, as one call.
  void Add(const std::vector<std::uint32_t>& rows, std::size_t begin, std::size_t end,
           const std::vector<std::size_t>& products, bool backward) {
    double took_ns = 0, products_ns = 0;
    for (std::size_t at = begin; at < end; ++at) took_ns += LengthOf(rows[at]);
    for (const std::size_t at : products) products_ns += LengthOf(rows[at]);
    const double instead_ns = FusedNs(rows, products, backward).value_or(products_ns);
    if (instead_ns >= took_ns) return;
    const double share = instead_ns / took_ns;
    for (std::size_t at = begin; at < end; ++at)
      saving_.lengths.push_back(
          {rows[at], static_cast<TimeNs>(std::llround(share * LengthOf(rows[at])))});
    // One launch is left, that of the fused call.
    for (std::size_t at = begin + 1; at < end; ++at) {
      if (ops_.launch[rows[at]] != kNone && ops_.graph_node[rows[at]] == kNone)
        saving_.gone.push_back(ops_.launch[rows[at]]);
    }
    between_ns_ += took_ns - products_ns;
    took_ns_ += took_ns;
    ++(backward ? backward_ : forward_);
    if (example_ == nullptr) example_ = ShapeOf(rows[products.front()]);
  }

  double LengthOf(std::uint32_t op) const {
    return static_cast<double>(ops_.end[op] - ops_.start[op]);
  }

  // Empty: not known.
  std::optional<double> FusedNs(const std::vector<std::uint32_t>& rows,
                                const std::vector<std::size_t>& products, bool backward) {
    if (spec_ == nullptr || !sixteen_bit_) return std::nullopt;
    const auto peak = PeakTflops(*spec_, PeakDtype::kFp16);
    if (!peak || spec_->memory_gb_per_s <= 0) return std::nullopt;
    double flops = 0, bytes = 0, scores = 0;
    for (const std::size_t at : products) {
      const GemmShape* shape = ShapeOf(rows[at]);
      const auto least = shape == nullptr ? std::nullopt : LeastBytesOf(*shape);
      if (!least) return std::nullopt;
      flops += FlopsOf(*shape);
      bytes += *least;
      scores = std::max(scores, ScoreBytes(*shape));
    }
    has_sized_ = true;
    bytes -= scores * static_cast<double>(products.size());
    return std::max((backward ? kBackwardWork : 1) * flops / (*peak * 1000 * kFusedShare),
                    bytes / (spec_->memory_gb_per_s * kReachedMemoryShare));
  }

  // Of the largest of the three matrices: each of the products has the scores as one of them.
  static double ScoreBytes(const GemmShape& shape) {
    const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n),
               k = static_cast<double>(shape.k);
    GemmShape numbers = shape;
    numbers.m = numbers.n = numbers.k = 1;
    const double each = *LeastBytesOf(numbers) / 3;
    return each * std::max({m * n, m * k, k * n});
  }

  void Tell() {
    saving_.label = "unfused_attention";
    saving_.what = "attention computed as separate GEMMs and softmax kernels";
    saving_.instead = "fused attention would take";
    const std::string heads =
        example_ == nullptr ? ""
                            : fmt::format(", {} heads over all samples at once", example_->batch);
    saving_.facts.push_back(
        fmt::format("{} such attention calls forward and {} backward in all steps{}; softmax, "
                    "scaling, masks and copies are {:.0f} % of their time",
                    forward_, backward_, heads, 100 * between_ns_ / took_ns_));
    saving_.facts.push_back(
        has_sized_ ? fmt::format("assumed for a fused call: {:.0f} % of the 16-bit peak of {}",
                                 100 * kFusedShare, spec_->title)
                   : "assumed for a fused call: as long as the GEMMs alone");
  }

  const Rank& rank_;
  const GpuOps& ops_;
  const LibraryCalls& calls_;
  const GpuSpec* spec_;
  std::vector<AttentionPart> parts_;  // by kernel shape
  std::vector<KernelTraits> traits_;  // likewise
  bool softmax_ = false, sixteen_bit_ = false;
  std::vector<std::vector<std::uint32_t>> rows_;  // kernels by stream
  KernelSaving saving_;
  std::int64_t forward_ = 0, backward_ = 0;
  double between_ns_ = 0, took_ns_ = 0;
  bool has_sized_ = false;
  const GemmShape* example_ = nullptr;
};

}  // namespace

KernelSaving FindAttentionSaving(const Rank& rank, const Device& device, const LibraryCalls& calls,
                                 OpRange range) {
  return AttentionSearch(rank, device, calls).Find(range);
}

}  // namespace traceinject
