// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/repair_durations.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/import/finish/host_copies.h"
#include "analyzer/import/finish/repair_operations.h"
#include "analyzer/model/for_each_value.h"

namespace traceinject {
namespace {

// What the kernels of a shape usually take, to a factor of 1.5.
class UsualDurations {
 public:
  UsualDurations(const Rank& rank, const GpuOps& ops) : ops_(ops), counts_(rank.shapes.size()) {
    for (std::size_t row = 0; row < ops.size(); ++row) {
      if (ops.kind[row] != OpKind::kKernel) continue;
      ++counts_[ops.detail[row]][Bucket(ops.end[row] - ops.start[row])];
    }
    usual_ns_.reserve(counts_.size());
    for (const Counts& counts : counts_) usual_ns_.push_back(Median(counts));
  }

  // Empty: of too few to say. Copies depend on their size.
  std::optional<TimeNs> Of(std::uint32_t row) const {
    if (ops_.kind[row] != OpKind::kKernel) return std::nullopt;
    const TimeNs usual = usual_ns_[ops_.detail[row]];
    return usual == 0 ? std::nullopt : std::optional(usual);
  }

 private:
  // Of durations in [2^(i-1), 2^i).
  using Counts = std::array<std::uint32_t, 64>;

  static std::size_t Bucket(TimeNs duration) {
    return static_cast<std::size_t>(
        std::bit_width(static_cast<std::uint64_t>(std::max<TimeNs>(duration, 0))));
  }
  static TimeNs Median(const Counts& counts) {
    std::uint64_t all = 0, below = 0;
    for (const std::uint32_t count : counts) all += count;
    if (all < kMinForUsual) return 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      below += counts[i];
      if (2 * below >= all) return i < 2 ? 1 : (TimeNs{3} << (i - 2));
    }
    return 0;
  }

  const GpuOps& ops_;
  std::vector<Counts> counts_;
  std::vector<TimeNs> usual_ns_;
};

struct Corrupt {
  std::uint32_t row;
  TimeNs latest_end;  // the next operation of its stream starts there; kOpen: not known
};

class Finder {
 public:
  Finder(Rank& rank, Device& device)
      : rank_(rank), device_(device), ops_(device.ops), last_(rank.streams.size(), kNone) {}

  std::vector<Corrupt> Find() {
    ForEachValue(ops_.stream, [this](std::uint32_t row, std::uint32_t stream) {
      if (IsHostCopy(rank_, ops_, row)) return;
      std::uint32_t& before = last_[stream];
      if (before != kNone && ops_.end[before] > ops_.start[row] + kClockToleranceNs)
        Overlap(before, row);
      if (before == kNone || corrupt_row_ == before || ops_.end[row] >= ops_.end[before])
        before = row;
      if (ops_.end[row] - ops_.start[row] >= kOutlierNs && IsOutlier(row)) doubted_.push_back(row);
    });
    for (const std::uint32_t row : doubted_) {
      if (found_.empty() || !IsFound(row)) found_.push_back({row, kOpen});
    }
    return std::move(found_);
  }

 private:
  TimeNs Duration(std::uint32_t row) const { return ops_.end[row] - ops_.start[row]; }
  bool IsFound(std::uint32_t row) const {
    return std::any_of(found_.begin(), found_.end(),
                       [&](const Corrupt& corrupt) { return corrupt.row == row; });
  }

  // Few recordings ask.
  std::optional<TimeNs> UsualOf(std::uint32_t row) {
    if (!usual_) usual_.emplace(rank_, ops_);
    return usual_->Of(row);
  }

  void Overlap(std::uint32_t before, std::uint32_t row) {
    if (ops_.graph_node[before] != kNone || ops_.graph_node[row] != kNone) return;
    const bool early_start = device_.cc_major.value_or(9) >= 9;
    if (early_start && ops_.end[before] <= ops_.end[row] + kClockToleranceNs) return;
    const std::optional<TimeNs> usual = UsualOf(before);
    // Of a shape without enough others, the time from its start to the next one's is all there is.
    const TimeNs ordinary =
        kOutlastingFactor * usual.value_or(ops_.start[row] - ops_.start[before] + 1);
    if (Duration(before) <= ordinary) {
      ++rank_.trust.overlaps;
      return;
    }
    found_.push_back({before, ops_.start[row]});
    corrupt_row_ = before;
  }

  bool IsOutlier(std::uint32_t row) {
    if (ops_.kernel_class[row] == KernelClass::kComm) return BeyondTheEnd(row);
    const std::optional<TimeNs> usual = UsualOf(row);
    return (usual && Duration(row) >= kOutlierFactor * *usual) || BeyondTheEnd(row);
  }
  bool BeyondTheEnd(std::uint32_t row) const {
    return rank_.imported_from.empty() && rank_.closed && rank_.end != kOpen &&
           ops_.end[row] > rank_.end + kOutsideNs;
  }

  Rank& rank_;
  const Device& device_;
  const GpuOps& ops_;
  std::optional<UsualDurations> usual_;
  std::vector<std::uint32_t> last_;     // per stream: the operation that ended last
  std::uint32_t corrupt_row_ = kNone;   // found last
  std::vector<std::uint32_t> doubted_;  // too long, with or without a proof
  std::vector<Corrupt> found_;
};

// Exact medians of the shapes that have corrupt kernels, of the others.
std::map<std::uint32_t, TimeNs> MediansOf(const GpuOps& ops, const std::vector<Corrupt>& corrupt) {
  std::map<std::uint32_t, std::vector<TimeNs>> durations;
  std::vector<std::uint32_t> rows;
  for (const Corrupt& each : corrupt) {
    rows.push_back(each.row);
    if (ops.kind[each.row] == OpKind::kKernel) durations[ops.detail[each.row]];
  }
  std::sort(rows.begin(), rows.end());
  for (std::uint32_t row = 0; row < ops.size(); ++row) {
    if (ops.kind[row] != OpKind::kKernel) continue;
    const auto found = durations.find(ops.detail[row]);
    if (found == durations.end() || std::binary_search(rows.begin(), rows.end(), row)) continue;
    found->second.push_back(ops.end[row] - ops.start[row]);
  }
  std::map<std::uint32_t, TimeNs> medians;
  for (auto& [shape, values] : durations) {
    if (values.empty()) continue;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    medians[shape] = *middle;
  }
  return medians;
}

}  // namespace

void RepairDurations(Rank& rank, Device& device) {
  GpuOps& ops = device.ops;
  const std::vector<Corrupt> corrupt = Finder(rank, device).Find();
  if (corrupt.empty()) return;
  const std::map<std::uint32_t, TimeNs> medians = MediansOf(ops, corrupt);
  for (const Corrupt& each : corrupt) {
    const TimeNs start = ops.start[each.row], claimed_end = ops.end[each.row];
    TimeNs end = each.latest_end == kOpen ? start : each.latest_end;
    if (ops.kind[each.row] == OpKind::kKernel) {
      const auto median = medians.find(ops.detail[each.row]);
      if (median != medians.end()) end = std::min(each.latest_end, start + median->second);
    }
    end = std::clamp(end, start, claimed_end);
    ops.end.Set(each.row, end);
    ++rank.trust.corrupt_durations;
    rank.trust.corrupt_ns += claimed_end - end;
    rank.trust.replaced_ns += end - start;
    if (each.latest_end != kOpen) continue;
    // It may well have run on.
    const TimeNs recorded_end =
        rank.imported_from.empty() && rank.closed && rank.end != kOpen ? rank.end : claimed_end;
    if (recorded_end > end) ops.unrecorded.push_back({end, std::min(claimed_end, recorded_end)});
  }
}

}  // namespace traceinject
