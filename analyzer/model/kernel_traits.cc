// SPDX-License-Identifier: Apache-2.0
//
// The rules were put together from the tensor-core lists of kineto and xprof, which know nothing of
// nvjet, cutlass' tensorop, wgmma and flash attention, and from names in recordings.
#include "analyzer/model/kernel_traits.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "analyzer/common/digit.h"
#include "analyzer/model/name_patterns.h"

namespace traceinject {
namespace {

struct DtypeRule {
  std::string_view dtype, patterns;
};

// The first rule that matches wins. "bf16" has "f16" in it, and "tf32" has "f32". A tensorop kernel
// of shape 16x8x8 without a type in its name takes fp32 matrices and computes in TF32. Double
// stands in many names only as the type of a scalar, so that float comes first.
constexpr std::array<DtypeRule, 9> kDtypeRules = {{
    {"fp4", "e2m1|E2m1|nvfp4|mxfp4|_fp4"},
    {"fp8", "e4m3|e5m2|E4m3|E5m2|fp8|float8|f8f8"},
    {"int8", "i8816|i16832|s8s8|i8i8|_imma"},
    {"bf16", "bf16|bfloat16|BFloat16|Bfloat16"},
    {"tf32", "tf32"},
    {"fp16",
     "f16f16|fp16|c10::Half|at::Half|half_t|__half|half2|_f16_|h884|h1688|16816|161616|s884|hgemm"},
    {"tf32", "tensorop_s1688"},
    {"fp64", "dgemm|f64f64|_f64_|d884"},
    {"fp32", "sgemm|scudnn|gemmSN|simt_s|f32f32|_f32_|fp32|float"},
}};

// In names of cuDNN's generated kernels f16 is the type of the instruction, which is the same for
// fp16 and bf16.
constexpr std::string_view kTypeless = "cudnn_generated";

constexpr std::string_view kHelpers =
    "splitKreduce|epilogue::impl::globalKernel|dot_do_o|convert_dq|convert_dkv|clear_dkvaccum|"
    "splitkv_combine|Preprocess|Postprocess|_preprocess|_postprocess|nchwToNhwc|nhwcToNchw|"
    "nchw2nhwc|nhwc2nchw|OffsetsKernel|flip_filter";

constexpr std::string_view kOnTensorCores =
    "nvjet|tensorop|wmma|h884|s884|d884|h1688|s1688|c1688|16816|161616|i8816|i16832|hmma|_imma|"
    "xmma_|wgmma|sm100f|flash_|^bmm_|tensor16x8|dgrad_1x1_stride_2x2|first_layer_wgrad_kernel|"
    "conv2d_c1_k1|direct_group";

constexpr std::string_view kOnOrdinaryCores =
    "sgemm|scudnn|dgemm|cgemm|zgemm|simt|gemv|gemmSN|gemmk1|dot_kernel|dgrad_engine|"
    "wgrad_alg0_engine|fft2d|winograd|nchwToNhwc|nhwcToNchw|nchw2nhwc|nhwc2nchw|OffsetsKernel|"
    "triton_poi|triton_red|triton_per";

// With its template arguments, without its parameters: those hold types of scalars.
std::string_view WithoutParameters(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  int angle = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] == '<') ++angle;
    if (name[at] == '>' && angle > 0 && name[at - 1] != '-') --angle;
    if (name[at] != '(' || angle > 0) continue;
    if (!name.substr(at).starts_with(kAnonymous)) return name.substr(0, at);
    at += kAnonymous.size() - 1;
  }
  return name;
}

// cuBLAS' nvjet_sm90_tst_..., nvjet_qqtst_...: the letters after the architecture are the types of
// the matrices, t bf16, h fp16, q fp8, with the accumulator's between those of the inputs and the
// result.
std::string_view NvjetDtype(std::string_view name) {
  const std::size_t found = name.find("nvjet_");
  if (found == std::string_view::npos) return "";
  std::string_view rest = name.substr(found + 6);
  if (rest.starts_with("sm")) rest.remove_prefix(std::min(rest.size(), rest.find('_') + 1));
  const std::string_view types = rest.substr(0, rest.find('_'));
  if (types.starts_with("qq")) return "fp8";
  if (types.size() != 3) return "";
  return types.front() == 't' ? "bf16" : types.front() == 'h' ? "fp16" : "";
}

std::string_view DtypeOf(std::string_view name) {
  if (const std::string_view nvjet = NvjetDtype(name); !nvjet.empty()) return nvjet;
  if (name.find(kTypeless) != std::string_view::npos) return "";
  for (const DtypeRule& rule : kDtypeRules) {
    if (MatchesAny(name, rule.patterns)) return rule.dtype;
  }
  return MatchesAny(name, "double") ? "fp64" : "";
}

// Classes whose kernels move numbers and hardly compute with them.
bool NeverMultipliesMatrices(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::kComm:
    case KernelClass::kMemcpy:
    case KernelClass::kMemset:
    case KernelClass::kKvCache:
    case KernelClass::kEmbedding:
    case KernelClass::kNorm:
    case KernelClass::kSoftmaxLoss:
    case KernelClass::kOptimizer:
    case KernelClass::kQuant:
    case KernelClass::kRope:
    case KernelClass::kReduce:
    case KernelClass::kSortTopk:
    case KernelClass::kDropoutRng:
    case KernelClass::kCopyCast:
    case KernelClass::kElementwise:
      return true;
    default:
      return false;
  }
}

std::optional<bool> TensorCores(std::string_view name, KernelClass kernel_class) {
  if (NeverMultipliesMatrices(kernel_class) || IsHelperKernel(name)) return false;
  if (MatchesAny(name, "_ffma")) return false;  // xmma kernels are of both kinds
  if (MatchesAny(name, kOnTensorCores)) return true;
  // Those for fp32 exist for both kinds of cores.
  if (MatchesAny(name, "fmha") && !MatchesAny(name, "_f32_")) return true;
  if (MatchesAny(name, kOnOrdinaryCores)) return false;
  return std::nullopt;
}

// The two or three digits that `at` begins with, if there are no more.
std::optional<int> ArchitectureAt(std::string_view name, std::size_t at) {
  std::size_t end = at;
  while (end < name.size() && IsDigit(name[end])) ++end;
  if (end - at < 2 || end - at > 3) return std::nullopt;
  int value = 0;
  for (; at < end; ++at) value = 10 * value + (name[at] - '0');
  return value;
}

// "sm80", "Sm90", "cutlass_75", where no letter stands before it.
std::optional<int> ArchitectureAfter(std::string_view name, std::string_view prefix) {
  for (std::size_t at = name.find(prefix); at != std::string_view::npos;
       at = name.find(prefix, at + 1)) {
    if (at > 0 && std::isalnum(static_cast<unsigned char>(name[at - 1])) != 0) continue;
    if (const auto found = ArchitectureAt(name, at + prefix.size())) return found;
  }
  return std::nullopt;
}

std::optional<int> ArchitectureOf(std::string_view name) {
  for (const std::string_view prefix : {"sm", "Sm", "cutlass_"}) {
    if (const auto found = ArchitectureAfter(name, prefix)) return found;
  }
  if (MatchesAny(name, "<ampere_")) return 80;
  if (MatchesAny(name, "<turing_")) return 75;
  if (MatchesAny(name, "<volta_")) return 70;
  if (MatchesAny(name, "<maxwell_")) return 50;
  return std::nullopt;
}

// Of shapes such as 16x8x16, or of libraries that have them only.
constexpr std::string_view kOfWarps = "16816|1688|s884|h884|i8816|i16832|flash_fwd_|flash_bwd_";
constexpr std::string_view kOfWarpGroups = "wgmma|warpgroup|gmma";

bool MultipliesByWarps(std::string_view name, const std::optional<int>& architecture) {
  if (architecture) return *architecture < 90;
  return !MatchesAny(name, kOfWarpGroups) && MatchesAny(name, kOfWarps);
}

}  // namespace

KernelTraits TraitsOf(std::string_view demangled_name, KernelClass kernel_class) {
  const std::string_view name = WithoutParameters(demangled_name);
  KernelTraits traits{DtypeOf(name), TensorCores(name, kernel_class), ArchitectureOf(name)};
  traits.warp_products =
      traits.tensor_cores.value_or(false) && MultipliesByWarps(name, traits.architecture);
  return traits;
}

bool IsHelperKernel(std::string_view demangled_name) {
  return MatchesAny(demangled_name, kHelpers);
}

}  // namespace traceinject
