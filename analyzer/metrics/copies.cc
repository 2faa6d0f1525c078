// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/copies.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "analyzer/model/intervals.h"

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

// The copies of one kind; both come in the order of their starts.
class Group {
 public:
  void Add(std::int64_t bytes, bool async, Interval time, Interval window) {
    ++stats.count;
    stats.async_count += async ? 1 : 0;
    stats.bytes += bytes;
    stats.total_ns += time.end - time.start;
    Append(times_, {std::max(time.start, window.start), std::min(time.end, window.end)});
  }
  // Other operations ran in `busy`.
  void Hide(Interval busy) {
    while (next_ < times_.size() && times_[next_].end <= busy.start) ++next_;
    for (std::size_t i = next_; i < times_.size() && times_[i].start < busy.end; ++i)
      hidden_ns_ += std::min(times_[i].end, busy.end) - std::max(times_[i].start, busy.start);
  }
  TimeNs exposed_ns() const { return Length(times_) - hidden_ns_; }

  CopyStats stats;

 private:
  Intervals times_;       // merged, inside the window
  std::size_t next_ = 0;  // the first that may end after what comes next
  TimeNs hidden_ns_ = 0;
};

// Calls visit(Interval) for the merged times of all operations but transfers, in order. There are
// about as many as operations: a list of them would take longer to write than all the rest.
template <typename Visit>
void ForEachBusy(const GpuOps& ops, Interval window, Visit visit) {
  Interval busy;
  for (std::size_t row = 0; row < ops.size() && ops.start[row] < window.end; ++row) {
    if (ops.end[row] <= window.start || IsTransfer(ops, row)) continue;
    if (busy.end > busy.start && ops.start[row] <= busy.end) {
      busy.end = std::max(busy.end, ops.end[row]);
      continue;
    }
    if (busy.end > busy.start) visit(busy);
    busy = {ops.start[row], ops.end[row]};
  }
  if (busy.end > busy.start) visit(busy);
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

std::vector<CopyStats> CountCopies(const Rank& rank, const GpuOps& ops, OpRange range,
                                   Interval window) {
  std::map<Key, Group> groups;
  for (std::size_t row = range.begin; row < range.end; ++row) {
    if (!IsTransfer(ops, row)) continue;
    const Transfer& transfer = rank.transfers[ops.detail[row]];
    const Key key = ops.kind[row] == OpKind::kMemset
                        ? Key{true, 0, 0, 0}
                        : Key{false, transfer.kind, transfer.src_kind, transfer.dst_kind};
    Group& group = groups[key];
    SetKey(key, group.stats);
    group.Add(transfer.bytes, transfer.async, {ops.start[row], ops.end[row]}, window);
  }
  std::vector<CopyStats> list;
  if (groups.empty()) return list;
  std::vector<Group*> all;  // the map takes longer to walk over
  for (auto& [key, group] : groups) all.push_back(&group);
  ForEachBusy(ops, window, [&](Interval busy) {
    for (Group* group : all) group->Hide(busy);
  });
  for (auto& [key, group] : groups) {
    group.stats.exposed_ns = group.exposed_ns();
    list.push_back(group.stats);
  }
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
