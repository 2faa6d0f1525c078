// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/kernel_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzer/common/units.h"
#include "analyzer/metrics/gpu/documents.h"
#include "analyzer/metrics/kernels/kernel_signs.h"
#include "analyzer/model/name_patterns.h"

namespace traceinject {
namespace {

// What the rules look at.
struct Context {
  const Rank& rank;
  const Device& device;
  const KernelTable& table;
  const MatrixProducts& products;

  bool Any(bool (*matches)(const Context&, const KernelStats&)) const {
    return std::any_of(table.kernels.begin(), table.kernels.end(),
                       [&](const KernelStats& kernel) { return matches(*this, kernel); });
  }
};

using Matches = bool (*)(const Context&, const KernelStats&);

bool IsProduct(const KernelStats& kernel) { return kernel.kernel_class == KernelClass::kGemm; }
bool IsConvolution(const KernelStats& kernel) { return kernel.kernel_class == KernelClass::kConv; }
bool IsFusedAttention(const Context&, const KernelStats& kernel) {
  return kernel.kernel_class == KernelClass::kAttentionForward ||
         kernel.kernel_class == KernelClass::kAttentionBackward;
}

bool IsUnaligned(const Context&, const KernelStats& kernel) {
  return (IsProduct(kernel) || IsConvolution(kernel)) && LoadsUnalignedRows(kernel.name);
}

bool IsForOlderGpu(const Context& context, const KernelStats& kernel) {
  const bool relevant = IsProduct(kernel) || IsFusedAttention(context, kernel);
  return relevant && IsBuiltForOlderGpu(kernel.traits, context.device);
}

bool HasTf32(const Device& device) { return device.cc_major.value_or(0) >= 8; }

bool IsTf32Product(const Context&, const KernelStats& kernel) {
  return IsProduct(kernel) && kernel.traits.dtype == "tf32";
}
bool IsTf32Convolution(const Context&, const KernelStats& kernel) {
  return IsConvolution(kernel) && kernel.traits.dtype == "tf32";
}

// Where kernels of its kind run in TF32, or a call allowed it, it is switched on already, and
// another reason kept this one from it. A product of a matrix and a vector is bound by memory.
bool IsFp32Product(const Context& context, const KernelStats& kernel) {
  const bool fp32 =
      kernel.dtype() == "fp32" && MultipliesOnOrdinaryCores(kernel.name, kernel.traits);
  if (!fp32 || !HasTf32(context.device) || kernel.work.tf32_allowed) return false;
  return (IsProduct(kernel) && !context.Any(IsTf32Product)) ||
         (IsConvolution(kernel) && !context.Any(IsTf32Convolution));
}

// Batches of products without a fused kernel anywhere: the scores are computed, stored and read.
bool IsUnfusedAttention(const Context& context, const KernelStats& kernel) {
  const auto& rows = context.products.rows;
  return IsPlainSoftmax(kernel.name) && !context.Any(IsFusedAttention) &&
         std::any_of(rows.begin(), rows.end(),
                     [](const MatrixProductRow& row) { return row.shape.batch > 1; });
}

bool ChangesLayout(const Context& context, const KernelStats& kernel) {
  return MatchesAny(kernel.name, "nchwToNhwc|nhwcToNchw|nchw2nhwc|nhwc2nchw") &&
         context.Any([](const Context&, const KernelStats& each) { return IsConvolution(each); });
}

bool IsFusedOptimizer(const Context&, const KernelStats& kernel) {
  return MatchesAny(kernel.name, "multi_tensor_apply*Fused");
}

bool IsSingleOptimizer(const Context& context, const KernelStats& kernel) {
  return MatchesAny(kernel.name, "addcdiv|addcmul") &&
         !MatchesAny(kernel.name, "multi_tensor_apply") && !context.Any(IsFusedOptimizer);
}

// Those that only Adam and its like need: plain SGD is one pass in this way too.
bool IsForeachOptimizer(const Context& context, const KernelStats& kernel) {
  return MatchesAny(kernel.name, "multi_tensor_apply*PointwiseOp") &&
         !context.Any(IsFusedOptimizer);
}

// Whether an environment variable has this value in the recorded process.
bool HasEnvironment(const Rank& rank, std::string_view key, std::string_view value) {
  return std::any_of(rank.facts.begin(), rank.facts.end(), [&](const SystemFact& fact) {
    return fact.kind == "env" && fact.key == key && fact.value == value;
  });
}

bool Tf32IsSet(const Rank& rank) {
  return HasEnvironment(rank, "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "1") ||
         HasEnvironment(rank, "NVIDIA_TF32_OVERRIDE", "0");  // 0 forbids it whatever is set
}

struct Rule {
  std::string_view name, what;
  Matches matches;
  double threshold;  // share of the kernel time
  std::string_view setting, change, source;
  bool bounded;  // what is above the ideal time of these kernels bounds what can be saved
  // Whether the program has it already; null: only the kernels tell.
  bool (*is_set)(const Rank& rank) = nullptr;
};

constexpr std::array<Rule, 7> kRules = {{
    {"unaligned_products", "GEMMs with unaligned rows", IsUnaligned, 0.02,
     "layer sizes in multiples of 8 (bf16, fp16; fp8: 16)",
     "pad vocabulary, hidden and head sizes: kernels named align1 or align2 load one or two "
     "elements at a time",
     documents::kMatrixProducts, true},
    {"older_architecture", "GEMM or attention kernels built for older GPUs", IsForOlderGpu, 0.05,
     "newer PyTorch, cuBLAS and attention libraries; aligned sizes",
     "these kernels do not use this GPU's tensor-core instructions", documents::kHopperTuning,
     true},
    {"fp32_products", "fp32 GEMMs or convolutions without tensor cores", IsFp32Product, 0.05,
     "torch.set_float32_matmul_precision(\"high\"), or torch.autocast with bfloat16",
     "lets fp32 GEMMs run on tensor cores in TF32 (10-bit mantissa) or bf16", documents::kTorchCuda,
     false, Tf32IsSet},
    {"unfused_attention", "attention softmax in a separate kernel", IsUnfusedAttention, 0.02,
     "torch.nn.functional.scaled_dot_product_attention",
     "one kernel computes scores, softmax and result without storing the scores; the GEMMs around "
     "the softmax come on top of this share",
     documents::kAttention, false},
    {"layout_changes", "layout changes around convolutions", ChangesLayout, 0.05,
     "model.to(memory_format=torch.channels_last), inputs too",
     "cuDNN's tensor-core kernels need channels-last data: no layout changes are then needed",
     documents::kChannelsLast, false},
    {"single_optimizer", "optimizer launches kernels for every parameter", IsSingleOptimizer, 0.02,
     "optimizer with fused=True",
     "one kernel for many parameters; only kernels recognizable by name are counted here",
     documents::kOptimizers, false},
    {"foreach_optimizer", "optimizer makes several passes over the parameters", IsForeachOptimizer,
     0.03, "optimizer with fused=True",
     "one kernel reads and writes each parameter once, instead of one kernel per operation",
     documents::kOptimizers, false},
}};

void Add(KernelFinding& to, const KernelStats& kernel) {
  to.kernels += kernel.count;
  to.total_ns += kernel.total_ns;
  if (kernel.total_ns > to.example_ns) {
    to.example_ns = kernel.total_ns;
    to.example = kernel.name;
  }
  const auto above =
      kernel.work.kernels == kernel.count ? kernel.work.time_above_ideal_ns() : std::nullopt;
  if (to.above_ideal_ns && above) {
    *to.above_ideal_ns += *above;
  } else {
    to.above_ideal_ns.reset();
  }
}

void SortByShare(std::vector<KernelFinding>& findings) {
  std::stable_sort(
      findings.begin(), findings.end(),
      [](const KernelFinding& a, const KernelFinding& b) { return a.share > b.share; });
}

double Share(TimeNs part, TimeNs whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::vector<KernelFinding> FindInKernels(const Rank& rank, const Device& device,
                                         const KernelTable& table, const MatrixProducts& products) {
  const Context context{rank, device, table, products};
  std::vector<KernelFinding> findings;
  for (const Rule& rule : kRules) {
    if (rule.is_set != nullptr && rule.is_set(rank)) continue;
    KernelFinding found;
    found.name = rule.name;
    found.what = rule.what;
    found.setting = rule.setting;
    found.change = rule.change;
    found.source = rule.source;
    found.threshold = rule.threshold;
    found.above_ideal_ns = 0;
    for (const KernelStats& kernel : table.kernels) {
      if (rule.matches(context, kernel)) Add(found, kernel);
    }
    found.share = Share(found.total_ns, table.total_ns);
    if (found.kernels == 0 || found.share < rule.threshold) continue;
    if (!rule.bounded) found.above_ideal_ns.reset();
    findings.push_back(std::move(found));
  }
  SortByShare(findings);
  return findings;
}

std::vector<KernelFinding> MergeFindings(const std::vector<std::vector<KernelFinding>>& parts,
                                         TimeNs total_ns) {
  std::vector<KernelFinding> sum;
  for (const std::vector<KernelFinding>& part : parts) {
    for (const KernelFinding& one : part) {
      const auto known = std::find_if(
          sum.begin(), sum.end(), [&](const KernelFinding& each) { return each.name == one.name; });
      if (known == sum.end()) {
        sum.push_back(one);
        continue;
      }
      known->kernels += one.kernels;
      known->total_ns += one.total_ns;
      if (one.example_ns > known->example_ns) {
        known->example_ns = one.example_ns;
        known->example = one.example;
      }
      if (known->above_ideal_ns && one.above_ideal_ns) {
        *known->above_ideal_ns += *one.above_ideal_ns;
      } else {
        known->above_ideal_ns.reset();
      }
    }
  }
  for (KernelFinding& finding : sum) finding.share = Share(finding.total_ns, total_ns);
  SortByShare(sum);
  return sum;
}

std::string DescribeFinding(const KernelFinding& finding) {
  return fmt::format("{}: {:.1f} % of the kernel time, {} in {} launches", finding.what,
                     100 * finding.share, FormatTime(finding.total_ns),
                     FormatCount(finding.kernels));
}

}  // namespace traceinject
