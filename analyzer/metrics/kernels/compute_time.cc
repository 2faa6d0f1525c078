// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/compute_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/metrics/gpu/gpu_specs.h"
#include "analyzer/metrics/kernels/attention.h"
#include "analyzer/metrics/kernels/kernel_work.h"
#include "analyzer/metrics/kernels/matrix_products.h"
#include "analyzer/model/kernel_class.h"
#include "analyzer/model/kernel_traits.h"

namespace traceinject {
namespace {

bool IsMatrixWork(KernelClass kernel_class) {
  return kernel_class == KernelClass::kGemm || kernel_class == KernelClass::kConv ||
         kernel_class == KernelClass::kMoe || AttentionLinks::IsAttention(kernel_class);
}

// Gives each moment of the times to the first kind that computes in it.
class Books {
 public:
  explicit Books(const Intervals& times) : times_(times) {}

  // Whether all of an operation lies before what is still to be booked.
  bool IsPast(TimeNs end) const { return next_ == times_.size() || end <= times_[next_].start; }

  void Occupy(ComputeKind kind, TimeNs end) {
    TimeNs& until = ends_[static_cast<std::size_t>(kind)];
    until = std::max(until, end);
  }

  // Time only goes on.
  void AdvanceTo(TimeNs time, ComputeTime& to) {
    for (; next_ < times_.size() && times_[next_].start < time; ++next_) {
      const Interval& inside = times_[next_];
      Book({std::max(now_, inside.start), std::min(time, inside.end)}, to);
      if (time < inside.end) break;
    }
    now_ = std::max(now_, time);
  }

 private:
  void Book(Interval time, ComputeTime& to) const {
    for (std::size_t kind = 0; kind < kComputeKinds; ++kind) {
      const TimeNs end = std::min(ends_[kind], time.end);
      if (end <= time.start) continue;
      to.kinds[kind].ns += end - time.start;
      time.start = end;
    }
  }

  const Intervals& times_;
  std::size_t next_ = 0;  // the first of the times that is not over
  TimeNs now_ = std::numeric_limits<TimeNs>::min();
  std::array<TimeNs, kComputeKinds> ends_{};
};

std::string NameOf(const GemmShape& shape, const KernelWork& work) {
  const std::string batch = shape.batch > 1 ? fmt::format("{} x ", shape.batch) : std::string();
  return fmt::format("{}{}{} x {} x {}, {}", shape.is_convolution() ? "convolution " : "", batch,
                     shape.m, shape.n, shape.k, work.dtype);
}

std::string NameOf(const AttentionShape& shape, bool backward) {
  return fmt::format("attention {}: {} x {} heads, {} x {} x {}{}",
                     backward ? "backward" : "forward", shape.batch, shape.heads,
                     shape.query_length, shape.key_length, shape.head_size,
                     shape.causal == 1 ? ", causal" : "");
}

class Division {
 public:
  Division(const Rank& rank, const Device& device, const LibraryCalls& calls)
      : rank_(rank),
        ops_(device.ops),
        calls_(calls),
        spec_(FindGpuSpec(device.name)),
        product_seen_(rank.gemms.size()),
        attention_seen_(rank.attentions.size()),
        traits_(rank.shapes.size()),
        products_(rank.gemm_shapes.size()),
        attentions_(2 * rank.attention_shapes.size()),
        of_shape_(rank.shapes.size()) {}

  ComputeTime Divide(const Intervals& times) {
    Books books(times);
    std::size_t window = 0;
    for (std::size_t row = 0; row < ops_.size(); ++row) {
      if (ops_.kind[row] != OpKind::kKernel || ops_.kernel_class[row] == KernelClass::kComm)
        continue;
      const TimeNs start = ops_.start[row];
      books.AdvanceTo(start, found_);
      if (books.IsPast(ops_.end[row])) continue;
      while (window < times.size() && times[window].end <= start) ++window;
      const bool counts = window < times.size() && times[window].start <= start;
      Group& group = GroupOf(static_cast<std::uint32_t>(row), counts);
      books.Occupy(group.kind, ops_.end[row]);
      if (!counts) continue;
      ++group.group.kernels;
      group.group.kernel_ns += ops_.end[row] - start;
    }
    if (!times.empty()) books.AdvanceTo(times.back().end, found_);
    for (auto& [key, group] : groups_)
      found_.kinds[static_cast<std::size_t>(group.kind)].groups.push_back(std::move(group.group));
    for (ComputeKindTime& kind : found_.kinds) {
      std::sort(kind.groups.begin(), kind.groups.end(),
                [](const ComputeGroup& a, const ComputeGroup& b) {
                  return a.kernel_ns != b.kernel_ns ? a.kernel_ns > b.kernel_ns : a.name < b.name;
                });
    }
    return std::move(found_);
  }

 private:
  struct Group {
    ComputeKind kind = ComputeKind::kOther;
    ComputeGroup group;
  };
  // What calls of one shape take; without work: it is not known.
  struct Known {
    std::string name;
    std::optional<ComputeGroup> work;  // of one call
    Group* group = nullptr;
  };

  // `counts`: the work of its call counts; else only its kind is asked for.
  Group& GroupOf(std::uint32_t op, bool counts) {
    const KernelClass kernel_class = ops_.kernel_class[op];
    if (IsMatrixWork(kernel_class)) {
      const std::uint32_t product = calls_.ProductOf(ops_.launch[op]);
      if (product != kNone) {
        if (Group* group = GroupOfProduct(product, op, counts)) return *group;
      } else if (const std::uint32_t call = calls_.attentions().Of(ops_.launch[op], kernel_class);
                 call != kNone && AttentionLinks::IsAttention(kernel_class)) {
        if (Group* group = GroupOfAttention(call, op, counts)) return *group;
      }
    }
    Group*& group = of_shape_[ops_.detail[op]];
    if (group == nullptr) group = &GroupWithoutWork(op);
    return *group;
  }

  Group& GroupWithoutWork(std::uint32_t op) {
    const KernelClass kernel_class = ops_.kernel_class[op];
    if (IsMatrixWork(kernel_class))
      return Find(ComputeKind::kUnknownWork,
                  std::string(rank_.string(rank_.shapes[ops_.detail[op]].name)));
    return Find(ComputeKind::kOther, std::string(KernelClassTitle(kernel_class)));
  }

  Group& Find(ComputeKind kind, std::string name) {
    const auto [entry, is_new] = groups_.try_emplace({kind, name});
    if (is_new) entry->second = {kind, {std::move(name)}};
    return entry->second;
  }

  // Null: the work of the call is not known.
  Group* GroupOfProduct(std::uint32_t call, std::uint32_t op, bool counts) {
    const auto work_of_call = [&] { return WorkOfProductCall(rank_, spec_, call, TraitsOfOp(op)); };
    const auto reached_ns = [](const KernelWork& work) { return *work.reached_ns; };
    if (FirstOfCall(rank_.gemms, call) != call) {
      // Each may hold other products beside the last.
      Known grouped = KnownOf("grouped GEMMs", work_of_call(), reached_ns);
      return AddWork(grouped, ComputeKind::kProduct, product_seen_, call, counts);
    }
    const std::uint32_t shape = rank_.gemms.shape[call];
    std::optional<Known>& known = products_[shape];
    if (!known) {
      const KernelWork work = work_of_call();
      known = KnownOf(NameOf(rank_.gemm_shapes[shape], work), work, reached_ns);
    }
    return AddWork(*known, ComputeKind::kProduct, product_seen_, call, counts);
  }

  Group* GroupOfAttention(std::uint32_t call, std::uint32_t op, bool counts) {
    const std::uint32_t shape = rank_.attentions.shape[call];
    const bool backward = rank_.attentions.backward[call] != 0;
    std::optional<Known>& known = attentions_[2 * shape + (backward ? 1 : 0)];
    if (!known) known = KnownOfAttention(call, backward, TraitsOfOp(op));
    return AddWork(*known, ComputeKind::kAttention, attention_seen_, call, counts);
  }

  Known KnownOfAttention(std::uint32_t call, bool backward, const KernelTraits& traits) const {
    const AttentionShape& shape = rank_.attention_shapes[rank_.attentions.shape[call]];
    const KernelWork work = WorkOfAttentionCall(rank_, spec_, call, traits);
    const double reached = backward ? kReachedAttentionBackward : kReachedAttentionForward;
    Known known = KnownOf(NameOf(shape, backward), work,
                          [&](const KernelWork& needed) { return *needed.peak_ns / reached; });
    const std::optional<double> counted = AttentionFlops(shape, backward);
    if (known.work && counted)
      known.work->full_square_ns = known.work->peak_ns * (*counted / work.flops - 1);
    return known;
  }

  template <typename Reached>
  static Known KnownOf(std::string name, const KernelWork& work, Reached reached_ns) {
    Known known;
    known.name = std::move(name);
    if (!work.peak_ns || work.flops <= 0) return known;
    ComputeGroup& one = known.work.emplace();
    one.peak_ns = *work.peak_ns;
    one.reached_ns = reached_ns(work);
    one.memory_ns = work.memory_ns.value_or(0) / kReachedMemoryShare;
    return known;
  }

  // The work of a call counts with the first of its kernels.
  Group* AddWork(Known& known, ComputeKind kind, std::vector<bool>& seen, std::uint32_t call,
                 bool counts) {
    if (!known.work) return nullptr;
    if (known.group == nullptr) known.group = &Find(kind, known.name);
    if (!counts || seen[call]) return known.group;
    seen[call] = true;
    ComputeGroup& to = known.group->group;
    to.peak_ns += known.work->peak_ns;
    to.reached_ns += known.work->reached_ns;
    to.memory_ns += known.work->memory_ns;
    to.full_square_ns += known.work->full_square_ns;
    return known.group;
  }

  const KernelTraits& TraitsOfOp(std::uint32_t op) {
    std::optional<KernelTraits>& traits = traits_[ops_.detail[op]];
    if (!traits)
      traits = TraitsOf(rank_.string(rank_.shapes[ops_.detail[op]].name), ops_.kernel_class[op]);
    return *traits;
  }

  const Rank& rank_;
  const GpuOps& ops_;
  const LibraryCalls& calls_;
  const GpuSpec* spec_;
  std::vector<bool> product_seen_, attention_seen_;
  std::vector<std::optional<KernelTraits>> traits_;  // by kernel shape
  std::vector<std::optional<Known>> products_;       // by shape
  std::vector<std::optional<Known>> attentions_;     // by shape, forward and backward
  std::vector<Group*> of_shape_;                     // by kernel shape: of those without known work
  std::map<std::pair<ComputeKind, std::string>, Group> groups_;
  ComputeTime found_;
};

}  // namespace

TimeNs ComputeTime::total_ns() const {
  TimeNs total = 0;
  for (const ComputeKindTime& kind : kinds) total += kind.ns;
  return total;
}

ComputeTime DivideComputeTime(const Rank& rank, const Device& device, const LibraryCalls& calls,
                              const Intervals& times) {
  return Division(rank, device, calls).Divide(times);
}

}  // namespace traceinject
