// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/compute_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
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
  return fmt::format("{}{} x {} x {}, {}", batch, shape.m, shape.n, shape.k, work.dtype);
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
        traits_(rank.shapes.size()) {}

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
  // Of a call: none where it is not known what it takes.
  struct Known {
    std::string name;
    std::optional<ComputeGroup> work;  // of one call
  };
  // What a key of a group is about, in its upper half.
  enum class About : std::uint8_t { kProducts, kGrouped, kForward, kBackward, kName, kClass };

  static std::uint64_t Key(About about, std::uint32_t of) {
    return static_cast<std::uint64_t>(about) << 32 | of;
  }

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
      const std::uint32_t name = rank_.shapes[ops_.detail[op]].name;
      return Find(Key(About::kName, name), ComputeKind::kUnknownWork,
                  [&] { return std::string(rank_.string(name)); });
    }
    return Find(Key(About::kClass, static_cast<std::uint32_t>(kernel_class)), ComputeKind::kOther,
                [&] { return std::string(KernelClassTitle(kernel_class)); });
  }

  template <typename MakeName>
  Group& Find(std::uint64_t key, ComputeKind kind, MakeName make_name) {
    const auto [entry, is_new] = groups_.try_emplace(key);
    if (is_new) entry->second = {kind, {make_name()}};
    return entry->second;
  }

  // Null: the work of the call is not known.
  Group* GroupOfProduct(std::uint32_t call, std::uint32_t op, bool counts) {
    const std::uint32_t shape = rank_.gemms.shape[call];
    const bool is_grouped = FirstOfCall(rank_.gemms, call) != call;
    const std::uint64_t key = Key(is_grouped ? About::kGrouped : About::kProducts, shape);
    const Known* known = nullptr;
    Known of_grouped;
    if (is_grouped) {
      // Each may hold other products beside the last.
      of_grouped = KnownOf(WorkOfProductCall(rank_, spec_, call, TraitsOfOp(op)), ReachedByProduct);
      of_grouped.name = "grouped GEMMs";
      known = &of_grouped;
    } else {
      known = &Once(key, [&] {
        const KernelWork work = WorkOfProductCall(rank_, spec_, call, TraitsOfOp(op));
        Known one = KnownOf(work, ReachedByProduct);
        one.name = NameOf(rank_.gemm_shapes[shape], work);
        return one;
      });
    }
    return AddWork(key, ComputeKind::kProduct, *known, product_seen_, call, counts);
  }

  Group* GroupOfAttention(std::uint32_t call, std::uint32_t op, bool counts) {
    const std::uint32_t shape = rank_.attentions.shape[call];
    const bool backward = rank_.attentions.backward[call] != 0;
    const std::uint64_t key = Key(backward ? About::kBackward : About::kForward, shape);
    const Known& known = Once(key, [&] {
      const AttentionShape& of = rank_.attention_shapes[shape];
      const KernelWork work = WorkOfAttentionCall(rank_, spec_, call, TraitsOfOp(op));
      Known one = KnownOf(work, [&](const KernelWork& needed) {
        return *needed.peak_ns / (backward ? kReachedAttentionBackward : kReachedAttentionForward);
      });
      one.name = NameOf(of, backward);
      const std::optional<double> counted = AttentionFlops(of, backward);
      if (one.work && counted && work.flops > 0)
        one.work->full_square_ns = one.work->peak_ns * (*counted / work.flops - 1);
      return one;
    });
    return AddWork(key, ComputeKind::kAttention, known, attention_seen_, call, counts);
  }

  template <typename Make>
  const Known& Once(std::uint64_t key, Make make) {
    const auto [entry, is_new] = known_.try_emplace(key);
    if (is_new) entry->second = make();
    return entry->second;
  }

  static double ReachedByProduct(const KernelWork& work) { return *work.reached_ns; }

  template <typename Reached>
  static Known KnownOf(const KernelWork& work, Reached reached_ns) {
    Known known;
    if (!work.peak_ns || work.flops <= 0) return known;
    ComputeGroup& one = known.work.emplace();
    one.peak_ns = *work.peak_ns;
    one.reached_ns = reached_ns(work);
    one.memory_ns = work.memory_ns.value_or(0) / kReachedMemoryShare;
    return known;
  }

  // The work of a call counts with the first of its kernels.
  Group* AddWork(std::uint64_t key, ComputeKind kind, const Known& known, std::vector<bool>& seen,
                 std::uint32_t call, bool counts) {
    if (!known.work) return nullptr;
    Group& group = Find(key, kind, [&] { return known.name; });
    if (!counts || seen[call]) return &group;
    seen[call] = true;
    group.group.peak_ns += known.work->peak_ns;
    group.group.reached_ns += known.work->reached_ns;
    group.group.memory_ns += known.work->memory_ns;
    group.group.full_square_ns += known.work->full_square_ns;
    return &group;
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
  std::unordered_map<std::uint64_t, Known> known_;
  std::unordered_map<std::uint64_t, Group> groups_;
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
