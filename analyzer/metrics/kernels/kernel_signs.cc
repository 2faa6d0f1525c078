// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/kernel_signs.h"

#include "analyzer/model/name_patterns.h"

namespace traceinject {
namespace {

// Compute capability from which a GPU has matrix instructions that kernels for older ones do not
// use. Cards of 8.6, 8.9 and 12.0 run those of 8.0.
int OldestGood(const Device& device) {
  switch (device.cc_major.value_or(0)) {
    case 8:
    case 12:
      return 80;
    case 9:
      return 90;
    case 10:
      return 100;
    default:
      return 0;  // unknown: nothing is too old
  }
}

// The fifth template argument of softmax_warp_forward tells whether the logarithm is taken, as in a
// loss; the other kernels have an epilogue of that name.
bool IsLogSoftmax(std::string_view name) {
  if (name.find("LogSoftMax") != std::string_view::npos) return true;
  const std::size_t warp = name.find("softmax_warp_");
  if (warp == std::string_view::npos) return false;
  std::size_t at = name.find('<', warp);
  for (int argument = 0; argument < 4 && at != std::string_view::npos; ++argument)
    at = name.find(',', at + 1);
  return at != std::string_view::npos && name.substr(at).starts_with(", true");
}

}  // namespace

// The names hold the elements of which a row is known to be a multiple: align8, align1; aligna2 of
// the first matrix, alignc2 of the result.
bool LoadsUnalignedRows(std::string_view name) {
  constexpr std::string_view kAlign = "align";
  for (std::size_t at = name.find(kAlign); at != std::string_view::npos;
       at = name.find(kAlign, at + 1)) {
    std::string_view digits = name.substr(at + kAlign.size(), 3);
    if (digits.starts_with('a') || digits.starts_with('b') || digits.starts_with('c'))
      digits.remove_prefix(1);
    digits = digits.substr(0, 2);
    const bool one_digit = digits.size() < 2 || digits[1] < '0' || digits[1] > '9';
    if (!digits.empty() && one_digit && (digits[0] == '1' || digits[0] == '2')) return true;
  }
  return false;
}

bool IsBuiltForOlderGpu(const KernelTraits& traits, const Device& device) {
  return traits.tensor_cores.value_or(false) && traits.architecture &&
         *traits.architecture < OldestGood(device);
}

bool MultipliesOnOrdinaryCores(std::string_view name, const KernelTraits& traits) {
  return MatchesAny(name, "sgemm|scudnn|simt_s|_ffma") && !traits.tensor_cores.value_or(true);
}

bool IsPlainSoftmax(std::string_view name) {
  return MatchesAny(name, "softmax_warp_|cunn_SoftMax") && !IsLogSoftmax(name);
}

bool IsSoftmaxBackward(std::string_view name) {
  return IsPlainSoftmax(name) && MatchesAny(name, "softmax_warp_backward|cunn_SoftMaxBackward");
}

}  // namespace traceinject
