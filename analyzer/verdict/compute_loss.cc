// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/compute_loss.h"

#include <fmt/format.h>

#include <string_view>

#include "analyzer/common/units.h"
#include "analyzer/metrics/gpu/documents.h"
#include "analyzer/model/kernel_class.h"

namespace traceinject {
namespace {

// Parts that a label of its own has levers for.
struct LabelOfPart {
  WaterfallPart part;
  std::string_view label;
};
constexpr LabelOfPart kLabelsOfParts[] = {{WaterfallPart::kMemoryBound, "memory_bound"},
                                          {WaterfallPart::kProducts, "inefficient_gemm"},
                                          {WaterfallPart::kClock, "throttled"}};

// The others.
struct RowOfPart {
  WaterfallPart part;
  LeverRow row;
};
constexpr RowOfPart kRowsOfParts[] = {
    {WaterfallPart::kAttention,
     {"compute_bound", "torch.nn.attention.sdpa_kernel",
      "compare CUDNN_ATTENTION with FLASH_ATTENTION: which is faster depends on GPU and shape",
      documents::kAttentionKernels}},
    {WaterfallPart::kAttention,
     {"compute_bound", "head size 128, longer sequences in one call",
      "smaller heads and short sequences leave the tensor cores waiting for the softmax",
      documents::kAttention}},
    {WaterfallPart::kCeiling,
     {"compute_bound", "fp8 for the large GEMMs",
      "these kernels are about as fast as any of this type: only another type, fewer FLOPs or more "
      "GPUs take less time",
      documents::kMatrixProducts}},
    {WaterfallPart::kUnknownWork,
     {"compute_bound", "analyze kernels",
      "the FLOPs of these kernels are not recorded (convolutions, compiled code): compare their "
      "rate with the peak by hand, and try torch.backends.cudnn.benchmark = True for convolutions",
      documents::kTuning}},
};

}  // namespace

std::string LossSentence(const Waterfall& waterfall, double steps) {
  const WaterfallBar* const loss = waterfall.largest_loss_of_computing();
  if (loss == nullptr || steps <= 0) return {};
  return fmt::format(
      "{:.1f} % of the published peak is achieved; most is lost to {}: {:.1f} % of "
      "the step, {}",
      waterfall.bars.back().tenths / 10.0, WaterfallPartTitle(loss->part), loss->tenths / 10.0,
      Rounded(static_cast<double>(loss->ns) / steps));
}

std::string LossItems(const Waterfall& waterfall, double steps) {
  const WaterfallBar* const loss = waterfall.largest_loss_of_computing();
  if (loss == nullptr || loss->items.empty() || steps <= 0) return {};
  std::string text;
  for (const WaterfallItem& item : loss->items) {
    const std::string name =
        loss->part == WaterfallPart::kUnknownWork ? StripKernelName(item.name) : item.name;
    text += fmt::format("{}{} {}", text.empty() ? " (" : "; ", name,
                        Rounded(static_cast<double>(item.ns) / steps));
  }
  return text + ")";
}

std::vector<LeverRow> LeversOfLoss(const Waterfall& waterfall, const Rank& rank) {
  const WaterfallBar* const loss = waterfall.largest_loss_of_computing();
  if (loss == nullptr) return {};
  for (const LabelOfPart& each : kLabelsOfParts) {
    if (each.part == loss->part) return LeversOf(each.label, rank);
  }
  std::vector<LeverRow> rows;
  for (const RowOfPart& each : kRowsOfParts) {
    if (each.part == loss->part) rows.push_back(each.row);
  }
  return rows;
}

}  // namespace traceinject
