// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/chakra/kernel_flops.h"

#include <utility>

#include "analyzer/metrics/kernels/kernel_work.h"
#include "analyzer/model/calls/library_calls.h"
#include "analyzer/model/kernel_traits.h"

namespace traceinject {
namespace {

// Kernels that compute, by the call that asked for them.
struct OfCall {
  std::uint32_t row = kNone;
  int kernels = 0;

  void Add(std::uint32_t op) {
    row = op;
    ++kernels;
  }
};
using OfCalls = std::unordered_map<std::uint32_t, OfCall>;

void AddWork(const OfCalls& calls, const auto& work_of,
             std::unordered_map<std::uint32_t, KernelFlops>& flops) {
  for (const auto& [call, kernels] : calls) {
    if (kernels.kernels != 1) continue;
    const KernelWork work = work_of(call);
    if (work.flops > 0) flops[kernels.row] = {work.flops, work.bytes};
  }
}

}  // namespace

std::unordered_map<std::uint32_t, KernelFlops> FindKernelFlops(const Rank& rank,
                                                               const Device& device) {
  std::unordered_map<std::uint32_t, KernelFlops> flops;
  if (rank.gemms.size() + rank.attentions.size() == 0) return flops;
  const LibraryCalls calls(rank);
  std::vector<bool> is_helper;
  for (const KernelShape& shape : rank.shapes)
    is_helper.push_back(IsHelperKernel(rank.string(shape.name)));
  const GpuOps& ops = device.ops;
  OfCalls products, attentions;
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    if (ops.kind[op] != OpKind::kKernel || ops.launch[op] == kNone || is_helper[ops.detail[op]])
      continue;
    const KernelClass kernel_class = ops.kernel_class[op];
    const std::uint32_t product = calls.ProductOf(ops.launch[op]);
    if (product != kNone) {
      if (kernel_class == KernelClass::kGemm || kernel_class == KernelClass::kConv)
        products[product].Add(op);
      continue;
    }
    const std::uint32_t call = calls.attentions().Of(ops.launch[op], kernel_class);
    if (call != kNone && AttentionLinks::IsAttention(kernel_class)) attentions[call].Add(op);
  }
  AddWork(
      products,
      [&](std::uint32_t call) { return WorkOfProductCall(rank, nullptr, call, KernelTraits()); },
      flops);
  AddWork(
      attentions,
      [&](std::uint32_t call) { return WorkOfAttentionCall(rank, nullptr, call, KernelTraits()); },
      flops);
  return flops;
}

}  // namespace traceinject
