// SPDX-License-Identifier: Apache-2.0
//
// The rules were put together from the classifiers of HTA, kineto, xprof, TraceLens and dlrover and
// from names seen in recordings of PyTorch training; on those recordings they leave less than 0.1 %
// of the kernel time unclassified.
#include "analyzer/model/kernel_class.h"

#include <array>

#include "analyzer/model/name_patterns.h"

namespace traceinject {
namespace {

// See name_patterns.h.
struct Rule {
  KernelClass kernel_class;
  std::string_view patterns;
};

// The first rule that matches wins, so the order is part of the rules: fbgemm is an embedding
// before it is a gemm.
constexpr std::array<Rule, 21> kRules = {{
    {KernelClass::kComm,
     "ncclKernel|ncclDevKernel|^nccl|rccl|ncclSymk|cross_device_reduce|multimem_all_reduce|"
     "multimem_all_gather|"
     "multimem_reduce|one_shot_all_reduce|two_shot_all_reduce|nvshmem|deep_ep::|mscclpp|"
     "userbuffers|trtllm_allreduce|"
     "allreduce_fusion|lamport"},
    {KernelClass::kMemcpy, "^Memcpy|^memcpy|^CUDA Memcpy|^CUDA memcpy|__amd_rocclr_copy"},
    {KernelClass::kMemset, "^Memset|^memset|^CUDA Memset|^CUDA memset|__amd_rocclr_fill"},
    {KernelClass::kAttentionBackward,
     "flash_bwd|flash_bprop|fmha*bwd|fmha*backward|fmha_cutlassB|sdpa*bprop|mha*bprop|"
     "AttentionBackwardKernel|"
     "compute_dot_do_o|convert_dq"},
    {KernelClass::kAttentionForward,
     "flash_fwd|flash_fprop|fmha|AttentionKernel|sdpa*fprop|mha_fprop|paged_attention|unified_"
     "attention|BatchPrefill|"
     "BatchDecode|mla_|^attn_fwd"},
    {KernelClass::kKvCache, "reshape_and_cache|copy_page"},
    {KernelClass::kMoe,
     "moe::|fused_moe|MoeGemm|topkGating|routingIndices|moe_align|unpermute|finalizeKernel"},
    {KernelClass::kEmbedding,
     "fbgemm|split_embedding|embedding|indexSelect|index_select|index_kernel|index_put|index_"
     "elementwise|"
     "indexing_backward|gather|scatter|bounds_check|linearize_index|"
     "compute_grad_weight|partial_segment|partials_per_segment"},
    {KernelClass::kConv,
     "fprop|dgrad|wgrad|implicit_gemm|convolve|winograd|scudnn|cudnn*conv!e|conv1d|conv2d|conv3d|"
     "depthwise|"
     "ImplicitGemmConvolution|flip_filter|igemm_fwd|igemm_bwd|igemm_wrw|im2col|grouped_conv|"
     "nchwToNhwc|nhwcToNchw|"
     "nchw2nhwc|nhwc2nchw|computeOffsetsKernel|computeBOffsetsKernel|computeWgradOffsetsKernel|"
     "computeWgradBOffsetsKernel|computeWgradSplitKOffsetsKernel|computeSplitKOffsetsKernel|"
     "fft2d_"},
    {KernelClass::kGemm,
     "nvjet|gemm|gemv|cublasLt|splitKreduce|cutlass*gemm|cutlass*tensorop|cutlass*simt|cutlass::"
     "Kernel|xmma_gemm|^bmm_|"
     "_matmul|Cijk_|wgmma|epilogue::impl::globalKernel|dot_kernel"},
    {KernelClass::kNorm,
     "layernorm|layer_norm|rmsnorm|rms_norm|RMSNorm|batchnorm|batch_norm|bn_fw|bn_bw|groupnorm|"
     "group_norm|groupNorm|"
     "group_Norm|Groupnorm|Group_norm|GroupNorm|Group_Norm|ln_fwd|ln_bwd|LayerNorm|GammaBeta|"
     "RowwiseMoments"},
    {KernelClass::kSoftmaxLoss,
     "softmax|soft_max|SoftMax|crossentropy|cross_entropy|nll_loss|NLLCriterion"},
    // "lamb" but not "lambda": every functor kernel of PyTorch has a lambda in its name.
    {KernelClass::kOptimizer,
     "multi_tensor_apply|adam|Adam|lamb!d|Lamb!d|adagrad|<sgd|amp_non_finite|_amp_update|addcdiv|"
     "addcmul"},
    {KernelClass::kQuant, "quant|cast_transpose|amax|delayed_scaling|mxfp|nvfp4"},
    {KernelClass::kRope, "rope|rotary"},
    {KernelClass::kReduce, "reduce_|Reduce|reduction|argmax|cumsum|Scan|norm_kernel"},
    {KernelClass::kSortTopk, "sort|Sort|topk|TopK|Radix|unique|nonzero|histogram"},
    {KernelClass::kDropoutRng, "dropout|philox|distribution_|curand|bernoulli"},
    // chunk_cat and split_with_sizes_copy pack and unpack the parameters of FSDP2.
    {KernelClass::kCopyCast,
     "direct_copy|copy_kernel|copy_async|CatArray|chunk_cat|split_with_sizes_copy|transpose|"
     "permute|FillFunctor|triu|"
     "tril|arange|to_dense"},
    {KernelClass::kElementwise,
     "elementwise|pointwise|Functor|gelu|silu|relu|sigmoid|swiglu|act_and_mul|clamp|max_pool|avg_"
     "pool|average_pool|"
     "upsample|scalePackedTensor|masked_"},
    {KernelClass::kTriton, "^triton_"},
}};

// Wrappers that run any functor: what is between their angle brackets decides.
constexpr std::string_view kGenericWrappers =
    "elementwise_kernel|reduce_kernel|multi_tensor_apply_kernel|cutlass*Kernel|launch_kernel";

std::optional<KernelClass> FirstMatch(std::string_view name) {
  for (const Rule& rule : kRules) {
    if (MatchesAny(name, rule.patterns)) return rule.kernel_class;
  }
  return std::nullopt;
}

void ReplaceAll(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

// Whether nothing but a return type is left: the whole name stood in brackets.
bool IsBareVoid(std::string_view stripped) {
  const std::size_t first = stripped.find_first_not_of(' ');
  if (first == std::string_view::npos) return false;
  return stripped.substr(first, stripped.find_last_not_of(' ') + 1 - first) == "void";
}

struct ClassText {
  std::string_view name, title;
};

// Indexed by KernelClass.
constexpr std::array<ClassText, 22> kClassTexts = {{
    {"comm", "communication"},
    {"memcpy", "copy"},
    {"memset", "memset"},
    {"attn_bwd", "attention backward"},
    {"attn_fwd", "attention forward"},
    {"kv_cache", "KV cache"},
    {"moe", "mixture of experts"},
    {"embedding", "embedding, gather"},
    {"conv", "convolution"},
    {"gemm", "matrix multiply"},
    {"norm", "normalization"},
    {"softmax_loss", "softmax, loss"},
    {"optimizer", "optimizer"},
    {"quant", "quantize, scale"},
    {"rope", "rotary embedding"},
    {"reduce", "reduction"},
    {"sort_topk", "sort, top-k"},
    {"dropout_rng", "dropout, random"},
    {"copy_cast", "copy, cast, layout"},
    {"elementwise", "elementwise"},
    {"triton", "Triton, other"},
    {"other", "unclassified"},
}};

constexpr std::array<KernelClass, kClassTexts.size()> kAllClasses = [] {
  std::array<KernelClass, kClassTexts.size()> all = {};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<KernelClass>(i);
  return all;
}();
static_assert(static_cast<std::size_t>(KernelClass::kOther) + 1 == kClassTexts.size());

}  // namespace

std::string StripKernelName(std::string_view demangled_name) {
  std::string name(demangled_name);
  // These hold brackets that are no template arguments or parameters.
  ReplaceAll(name, "->", "");
  ReplaceAll(name, "(anonymous namespace)::", "");
  ReplaceAll(name, "{lambda", "lambda_");
  std::string stripped;
  int depth = 0;
  for (const char letter : name) {
    if (letter == '<') {
      ++depth;
    } else if (letter == '>') {
      if (depth > 0) --depth;
    } else if (depth == 0) {
      if (letter == '(') break;
      stripped += letter;
    }
  }
  return stripped;
}

KernelClass ClassifyKernel(std::string_view demangled_name) {
  const std::string stripped = StripKernelName(demangled_name);
  if (!MatchesAny(stripped, kGenericWrappers) && !IsBareVoid(stripped)) {
    if (const auto found = FirstMatch(stripped)) return *found;
  }
  return FirstMatch(demangled_name).value_or(KernelClass::kOther);
}

std::string_view KernelClassName(KernelClass kernel_class) {
  return kClassTexts[static_cast<std::size_t>(kernel_class)].name;
}

std::string_view KernelClassTitle(KernelClass kernel_class) {
  return kClassTexts[static_cast<std::size_t>(kernel_class)].title;
}

std::optional<KernelClass> KernelClassFromName(std::string_view name) {
  for (const KernelClass kernel_class : kAllClasses) {
    if (KernelClassName(kernel_class) == name) return kernel_class;
  }
  return std::nullopt;
}

std::span<const KernelClass> AllKernelClasses() { return kAllClasses; }

}  // namespace traceinject
