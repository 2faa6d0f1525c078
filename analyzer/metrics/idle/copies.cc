// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/copies.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

namespace traceinject {
namespace {

// Names of CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind, cupti_activity.h.
constexpr std::array<std::string_view, 11> kCopyKinds = {
    "unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::array<std::string_view, 8> kMemoryKinds = {
    "unknown", "pageable", "pinned",        "device",
    "array",   "managed",  "device static", "managed static"};

// Memsets are one group.
using Key = std::tuple<bool, std::uint8_t, std::uint8_t, std::uint8_t>;

Key KeyOf(const CopyStats& stats) {
  return {stats.is_memset, stats.kind, stats.src_kind, stats.dst_kind};
}

void SetKey(const Key& key, CopyStats& stats) {
  std::tie(stats.is_memset, stats.kind, stats.src_kind, stats.dst_kind) = key;
}

// Copies that NCCL makes instead of running a kernel are communication.
bool IsTransfer(const GpuOps& ops, std::size_t row) {
  return ops.kind[row] != OpKind::kKernel && ops.kernel_class[row] != KernelClass::kComm;
}

// The copies of one kind.
struct Group {
  CopyStats stats;
  TimeNs until = std::numeric_limits<TimeNs>::min();  // the latest end in the window
};

// Operations come in the order of their starts. What runs when one begins goes on to the latest end
// of its kind: these ends are all that is needed to tell what runs at once.
class Counter {
 public:
  // `until`: where the window ends.
  void AddTransfer(const Key& key, const Transfer& transfer, Interval time, TimeNs until) {
    Group& group = GroupOf(key);
    ++group.stats.count;
    group.stats.async_count += transfer.async ? 1 : 0;
    group.stats.bytes += transfer.bytes;
    group.stats.total_ns += time.end - time.start;
    const TimeNs from = std::max(time.start, group.until), end = std::min(time.end, until);
    if (end <= from) return;
    group.stats.exposed_ns += end - std::clamp(busy_until_, from, end);
    group.until = end;
    copies_until_ = std::max(copies_until_, end);
  }
  void AddOther(Interval time) {
    const TimeNs from = std::max(time.start, busy_until_);
    if (time.end <= from) return;
    busy_until_ = time.end;
    if (copies_until_ <= from) return;
    for (auto& [key, group] : groups_) {
      if (group.until > from) group.stats.exposed_ns -= std::min(time.end, group.until) - from;
    }
  }
  std::vector<CopyStats> Finish() const {
    std::vector<CopyStats> list;
    for (const auto& [key, group] : groups_) list.push_back(group.stats);
    return list;
  }

 private:
  // Mostly the one before.
  Group& GroupOf(const Key& key) {
    if (last_ == groups_.end() || last_->first != key) {
      last_ = groups_.try_emplace(key).first;
      SetKey(key, last_->second.stats);
    }
    return last_->second;
  }

  std::map<Key, Group> groups_;
  std::map<Key, Group>::iterator last_ = groups_.end();
  TimeNs copies_until_ = std::numeric_limits<TimeNs>::min();  // of all groups
  TimeNs busy_until_ = std::numeric_limits<TimeNs>::min();    // with other operations
};

Key KeyOf(OpKind kind, const Transfer& transfer) {
  if (kind == OpKind::kMemset) return {true, 0, 0, 0};
  return {false, transfer.kind, transfer.src_kind, transfer.dst_kind};
}

void SortByTime(std::vector<CopyStats>& list) {
  std::sort(list.begin(), list.end(), [](const CopyStats& a, const CopyStats& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : KeyOf(a) < KeyOf(b);
  });
}

}  // namespace

std::optional<double> CopyStats::gb_per_s() const {
  if (total_ns <= 0) return std::nullopt;
  return static_cast<double>(bytes) / static_cast<double>(total_ns);
}

std::vector<CopyStats> CountCopies(const Rank& rank, const GpuOps& ops, const OpRanges& ranges,
                                   const Intervals& windows) {
  Counter counter;
  std::size_t row = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (; row < ranges[i].end; ++row) {
      const Interval time{ops.start[row], ops.end[row]};
      if (!IsTransfer(ops, row)) {
        counter.AddOther(time);
      } else if (row >= ranges[i].begin) {
        const Transfer& transfer = rank.transfers[ops.detail[row]];
        counter.AddTransfer(KeyOf(ops.kind[row], transfer), transfer, time, windows[i].end);
      }
    }
  }
  std::vector<CopyStats> list = counter.Finish();
  SortByTime(list);
  return list;
}

std::vector<CopyStats> MergeCopies(const std::vector<std::vector<CopyStats>>& devices) {
  std::map<Key, CopyStats> groups;
  for (const std::vector<CopyStats>& device : devices) {
    for (const CopyStats& stats : device) {
      CopyStats& sum = groups[KeyOf(stats)];
      SetKey(KeyOf(stats), sum);
      sum.count += stats.count;
      sum.async_count += stats.async_count;
      sum.bytes += stats.bytes;
      sum.total_ns += stats.total_ns;
      sum.exposed_ns += stats.exposed_ns;
    }
  }
  std::vector<CopyStats> list;
  for (const auto& [key, stats] : groups) list.push_back(stats);
  SortByTime(list);
  return list;
}

std::string_view CopyKindName(std::uint8_t kind) {
  return kind < kCopyKinds.size() ? kCopyKinds[kind] : std::string_view("unknown");
}

std::string_view MemoryKindName(std::uint8_t kind) {
  return kind < kMemoryKinds.size() ? kMemoryKinds[kind] : std::string_view("unknown");
}

}  // namespace traceinject
