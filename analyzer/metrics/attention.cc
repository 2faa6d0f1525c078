// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/attention.h"

#include <algorithm>

#include "analyzer/model/attention_links.h"
#include "analyzer/model/calls_on_threads.h"

namespace traceinject {
namespace {

void CountWithoutKernels(const Rank& rank, const AttentionLinks& calls, Interval window,
                         AttentionCalls& to) {
  const Attentions& attentions = rank.attentions;
  std::vector<bool> linked(attentions.size(), false);
  for (const Device& device : rank.devices) {
    for (std::size_t op = 0; op < device.ops.size(); ++op) {
      const std::uint32_t row = calls.Of(device.ops.launch[op], device.ops.kernel_class[op]);
      if (row != kNone && device.ops.kind[op] == OpKind::kKernel) linked[row] = true;
    }
  }
  for (std::size_t row = 0; row < attentions.size(); ++row) {
    const TimeNs start = attentions.start[row];
    if (linked[row] || start < window.start || start >= window.end) continue;
    ++to.calls;
    if (attentions.backward[row] != 0) ++to.backward_calls;
    if (calls.by_products(row)) ++to.product_calls;
  }
}

}  // namespace

std::optional<double> AttentionFlops(const AttentionShape& shape, bool backward) {
  double product = 2;
  for (const std::int64_t size : {shape.batch, shape.heads, shape.query_length, shape.key_length,
                                  shape.head_size, shape.value_head_size}) {
    if (size < 0) return std::nullopt;
  }
  for (const std::int64_t size : {shape.batch, shape.heads, shape.query_length, shape.key_length})
    product *= static_cast<double>(size);
  const auto d = static_cast<double>(shape.head_size);
  const auto v = static_cast<double>(shape.value_head_size);
  return product * (backward ? 3 * d + 2 * v : d + v);
}

std::optional<double> AttentionCalls::unknown_share() const {
  if (all_kernels_ns == 0) return std::nullopt;
  return static_cast<double>(unknown_ns) / static_cast<double>(all_kernels_ns);
}

AttentionCalls& AttentionCalls::operator+=(const AttentionCalls& other) {
  calls += other.calls;
  backward_calls += other.backward_calls;
  linked_calls += other.linked_calls;
  product_calls += other.product_calls;
  unknown_calls += other.unknown_calls;
  flops += other.flops;
  for (const auto& [type, of_type] : other.flops_by_type) flops_by_type[type] += of_type;
  kernel_ns += other.kernel_ns;
  unknown_ns += other.unknown_ns;
  all_kernels_ns += other.all_kernels_ns;
  return *this;
}

AttentionCalls CountAttention(const Rank& rank, const Device& device, const OpRanges& ranges,
                              Interval window) {
  AttentionCalls found;
  const Attentions& attentions = rank.attentions;
  const GpuOps& ops = device.ops;
  const AttentionLinks calls(rank);
  const std::vector<std::uint32_t> product =
      CallAround(rank, rank.gemms.start, rank.gemms.end, rank.gemms.thread);
  std::vector<bool> linked(attentions.size(), false);
  for (const OpRange& range : ranges) {
    for (std::size_t op = range.begin; op < range.end; ++op) {
      if (ops.kind[op] != OpKind::kKernel) continue;
      const TimeNs length = ops.end[op] - ops.start[op];
      found.all_kernels_ns += length;
      const std::uint32_t launch = ops.launch[op];
      if (launch != kNone && product[launch] != kNone) continue;
      const KernelClass kernel_class = ops.kernel_class[op];
      const std::uint32_t row = calls.Of(launch, kernel_class);
      bool known = false;
      if (row != kNone) {
        const AttentionShape& shape = rank.attention_shapes[attentions.shape[row]];
        const auto flops = AttentionFlops(shape, attentions.backward[row] != 0);
        known = flops.has_value();
        found.kernel_ns += length;
        if (!linked[row]) {
          linked[row] = true;
          ++found.linked_calls;
          if (attentions.backward[row] != 0) ++found.backward_calls;
          if (!known) ++found.unknown_calls;
          found.flops += flops.value_or(0);
          if (known) found.flops_by_type[shape.type] += *flops;
        }
      }
      const bool counts = AttentionLinks::IsAttention(kernel_class) ||
                          kernel_class == KernelClass::kGemm || kernel_class == KernelClass::kConv;
      if (counts && !known) found.unknown_ns += length;
    }
  }
  found.calls = found.linked_calls;
  if (IsFirstAtWork(rank, device)) CountWithoutKernels(rank, calls, window, found);
  return found;
}

}  // namespace traceinject
