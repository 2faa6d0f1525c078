// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/attention.h"

#include <utility>

#include "analyzer/model/calls/calls_on_threads.h"

namespace traceinject {
namespace {

// FLOPs of a call by its shape and direction; empty: its lengths are not known.
class FlopsByShape {
 public:
  explicit FlopsByShape(const std::vector<AttentionShape>& shapes) {
    for (const AttentionShape& shape : shapes) {
      for (const bool backward : {false, true}) flops_.push_back(AttentionFlops(shape, backward));
    }
  }
  std::optional<double> Of(std::uint32_t shape, bool backward) const {
    return flops_[2 * shape + (backward ? 1 : 0)];
  }

 private:
  std::vector<std::optional<double>> flops_;
};

// Walks over kernels and adds them to their calls.
class AttentionCounter {
 public:
  AttentionCounter(const Rank& rank, const LibraryCalls& calls)
      : rank_(rank),
        calls_(calls),
        flops_(rank.attention_shapes),
        linked_(rank.attentions.size()) {}

  void Add(const GpuOps& ops, OpRange range) {
    for (std::size_t op = range.begin; op < range.end; ++op) {
      if (ops.kind[op] != OpKind::kKernel) continue;
      const TimeNs length = ops.end[op] - ops.start[op];
      found_.all_kernels_ns += length;
      const std::uint32_t launch = ops.launch[op];
      const KernelClass kernel_class = ops.kernel_class[op];
      const std::uint32_t row = calls_.attentions().Of(launch, kernel_class);
      const bool counts = AttentionLinks::IsAttention(kernel_class) ||
                          kernel_class == KernelClass::kGemm || kernel_class == KernelClass::kConv;
      if (row == kNone && !counts) continue;
      if (calls_.ProductOf(launch) != kNone) continue;
      const bool known = row != kNone && AddTo(row, length);
      if (counts && !known) found_.unknown_ns += length;
    }
  }

  AttentionCalls Finish() {
    found_.calls = found_.linked_calls;
    return std::move(found_);
  }
  // The calls that have a kernel.
  std::vector<bool>& linked() { return linked_; }

 private:
  // Returns whether the FLOPs of the call are known.
  bool AddTo(std::uint32_t row, TimeNs length) {
    const Attentions& attentions = rank_.attentions;
    const bool backward = attentions.backward[row] != 0;
    const auto flops = flops_.Of(attentions.shape[row], backward);
    found_.kernel_ns += length;
    if (linked_[row]) return flops.has_value();
    linked_[row] = true;
    ++found_.linked_calls;
    if (backward) ++found_.backward_calls;
    if (!flops) ++found_.unknown_calls;
    found_.flops += flops.value_or(0);
    if (flops) found_.flops_by_type[rank_.attention_shapes[attentions.shape[row]].type] += *flops;
    return flops.has_value();
  }

  const Rank& rank_;
  const LibraryCalls& calls_;
  const FlopsByShape flops_;
  std::vector<bool> linked_;
  AttentionCalls found_;
};

// Of all kernels of the process, whatever else they belong to.
void LinkAll(const Rank& rank, const AttentionLinks& calls, std::vector<bool>& linked) {
  for (const Device& device : rank.devices) {
    for (std::size_t op = 0; op < device.ops.size(); ++op) {
      const std::uint32_t row = calls.Of(device.ops.launch[op], device.ops.kernel_class[op]);
      if (row != kNone && device.ops.kind[op] == OpKind::kKernel) linked[row] = true;
    }
  }
}

// `linked`: of which kernels were found so far.
void CountWithoutKernels(const Rank& rank, const AttentionLinks& calls, const Intervals& windows,
                         std::vector<bool>& linked, AttentionCalls& to) {
  const Attentions& attentions = rank.attentions;
  const auto is_without = [&](std::size_t row) {
    return !linked[row] && Contains(windows, attentions.start[row]);
  };
  bool all_found = true;  // as usual: the rest need not be looked through
  for (std::size_t row = 0; row < attentions.size() && all_found; ++row)
    all_found = calls.by_products(row) || !is_without(row);
  if (!all_found) LinkAll(rank, calls, linked);
  for (std::size_t row = 0; row < attentions.size(); ++row) {
    if (!is_without(row)) continue;
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

AttentionCalls LinkedAttention(const Rank& rank, const Device& device, const LibraryCalls& calls,
                               const OpRanges& ranges) {
  AttentionCounter counter(rank, calls);
  for (const OpRange& range : ranges) counter.Add(device.ops, range);
  return counter.Finish();
}

AttentionCalls CountAttention(const Rank& rank, const Device& device, const LibraryCalls& calls,
                              const OpRanges& ranges, const Intervals& windows) {
  AttentionCounter counter(rank, calls);
  for (const OpRange& range : ranges) counter.Add(device.ops, range);
  AttentionCalls found = counter.Finish();
  if (IsFirstAtWork(rank, device))
    CountWithoutKernels(rank, calls.attentions(), windows, counter.linked(), found);
  return found;
}

}  // namespace traceinject
