// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/find_lost_operations.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/import/finish/repair_operations.h"
#include "analyzer/model/for_each_value.h"

namespace traceinject {
namespace {

bool UsesGraphs(const Rank& rank) {
  if (!rank.graph_nodes.empty()) return true;
  return std::any_of(rank.api_names.begin(), rank.api_names.end(),
                     [](const ApiName& name) { return name.api_class == ApiClass::kGraphLaunch; });
}

// Calls visit(id) for the correlation ids of all operations.
template <typename Visit>
void ForEachId(const Rank& rank, Visit visit) {
  for (const Device& device : rank.devices)
    ForEachValue(device.ops.correlation, [&](std::uint32_t, std::uint64_t id) { visit(id); });
}

// Which correlation ids operations carry.
class CarriedIds {
 public:
  explicit CarriedIds(const Rank& rank) {
    std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max(), highest = 0, count = 0;
    ForEachId(rank, [&](std::uint64_t id) {
      lowest = std::min(lowest, id - 1);  // 0 is none, and comes last here
      highest = std::max(highest, id);
      count += id != 0 ? 1 : 0;
    });
    if (count == 0) return;
    base_ = lowest + 1;
    // CUPTI counts up; what does not is not of CUPTI.
    constexpr std::uint64_t kSparse = 64, kSlack = 1 << 20;
    if (highest - base_ > kSparse * count + kSlack) return;
    carried_.assign(highest - base_ + 1, false);
    ForEachId(rank, [this](std::uint64_t id) {
      if (id != 0) carried_[id - base_] = true;
    });
  }

  bool known() const { return !carried_.empty(); }
  // Outside the ids of operations nothing is missing: recording began or ended there.
  bool Has(std::uint64_t id) const {
    return id < base_ || id - base_ >= carried_.size() || carried_[id - base_];
  }

 private:
  std::uint64_t base_ = 0;
  std::vector<bool> carried_;
};

// Calls in a row of one thread without operations, between two that have theirs.
struct Loss {
  std::uint32_t before = kNone, first = kNone, after = kNone;  // rows of Rank::api
  std::uint32_t count = 0;
};

bool LaunchesOne(ApiClass api_class) {
  return api_class == ApiClass::kLaunch || api_class == ApiClass::kCopy;
}

// What was launched just before such a gap may have run in it.
bool HasPlannedGap(const Rank& rank, TimeNs from, TimeNs to) {
  const auto gap =
      std::lower_bound(rank.gaps.begin(), rank.gaps.end(), from,
                       [](const CaptureGap& one, TimeNs time) { return one.start < time; });
  return gap != rank.gaps.end() && gap->planned() && gap->start < to;
}

std::vector<Loss> FindLosses(Rank& rank, const CarriedIds& ids) {
  std::vector<Loss> losses, open(rank.threads.size());
  std::vector<bool> launches_one;  // by name
  for (const ApiName& name : rank.api_names) launches_one.push_back(LaunchesOne(name.api_class));
  const ApiCalls& api = rank.api;
  std::int64_t launches = 0;
  ForEachValue(api.correlation, [&](std::uint32_t row, std::uint64_t id) {
    if (!launches_one[api.name[row]] || id == 0 || id < rank.first_kept_call) return;
    Loss& loss = open[api.thread[row]];
    if (!ids.Has(id)) {
      if (api.result[row] == 0 && loss.count++ == 0) loss.first = row;
      return;
    }
    ++launches;
    if (loss.count > 0 && loss.before != kNone &&
        HasPlannedGap(rank, api.start[loss.before], api.start[row]))
      loss = {};
    if (loss.count > 0 && loss.count <= kLongestLoss && loss.before != kNone) {
      loss.after = row;
      losses.push_back(loss);
      launches += loss.count;
      rank.trust.lost_operations += loss.count;
    }
    loss = {};
    loss.before = row;
  });
  rank.trust.launches += launches;
  return losses;
}

struct Place {
  GpuOps* ops = nullptr;
  std::uint32_t row = kNone;
};

// The operations of the calls on both sides of losses.
class Neighbors {
 public:
  Neighbors(Rank& rank, const std::vector<Loss>& losses) {
    std::vector<bool> wanted(rank.api.size());
    for (const Loss& loss : losses) wanted[loss.before] = wanted[loss.after] = true;
    for (Device& device : rank.devices) {
      for (std::uint32_t row = 0; row < device.ops.size(); ++row) {
        const std::uint32_t call = device.ops.launch[row];
        if (call != kNone && wanted[call]) places_.push_back({call, {&device.ops, row}});
      }
    }
    std::stable_sort(places_.begin(), places_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  std::optional<Place> Of(std::uint32_t call) const {
    const auto at =
        std::lower_bound(places_.begin(), places_.end(), call,
                         [](const auto& place, std::uint32_t row) { return place.first < row; });
    if (at == places_.end() || at->first != call) return std::nullopt;
    return at->second;
  }

 private:
  std::vector<std::pair<std::uint32_t, Place>> places_;
};

constexpr std::uint32_t kFarthestNeighbor = 4096;  // rows

// When the next operation of that stream starts; kOpen: not soon.
TimeNs NextStart(const Place& from) {
  const GpuOps& ops = *from.ops;
  const std::size_t last = std::min<std::size_t>(ops.size(), from.row + kFarthestNeighbor);
  for (std::size_t row = from.row + 1; row < last; ++row) {
    if (ops.stream[row] == ops.stream[from.row]) return ops.start[row];
  }
  return kOpen;
}

std::optional<TimeNs> LastEnd(const Place& from) {
  const GpuOps& ops = *from.ops;
  const std::uint32_t first =
      from.row > kFarthestNeighbor ? from.row - kFarthestNeighbor : std::uint32_t{0};
  for (std::uint32_t row = from.row; row-- > first;) {
    if (ops.stream[row] == ops.stream[from.row]) return ops.end[row];
  }
  return std::nullopt;
}

// All but one in a thousand operations are shorter.
TimeNs LongDuration(const GpuOps& ops) {
  std::vector<TimeNs> sample;
  const std::size_t every = ops.size() / 65536 + 1;
  for (std::size_t row = 0; row < ops.size(); row += every)
    sample.push_back(ops.end[row] - ops.start[row]);
  const auto at =
      sample.begin() + static_cast<std::ptrdiff_t>(sample.size() - 1 - sample.size() / 1000);
  std::nth_element(sample.begin(), at, sample.end());
  return *at;
}

}  // namespace

void FindLostOperations(Rank& rank) {
  if (rank.api.size() == 0 || UsesGraphs(rank)) return;
  const CarriedIds ids(rank);
  if (!ids.known()) return;
  const std::vector<Loss> losses = FindLosses(rank, ids);
  if (losses.empty()) return;
  std::vector<std::pair<const GpuOps*, TimeNs>> longest;
  for (const Device& device : rank.devices) {
    if (device.ops.size() > 0) longest.emplace_back(&device.ops, LongDuration(device.ops));
  }
  const Neighbors neighbors(rank, losses);
  for (const Loss& loss : losses) {
    const std::optional<Place> before = neighbors.Of(loss.before), after = neighbors.Of(loss.after);
    if (!before || !after) continue;
    const TimeNs called = rank.api.start[loss.first];
    const auto add = [&](GpuOps& ops, TimeNs from, TimeNs to) {
      from = std::max(from, called);
      const auto known = std::find_if(longest.begin(), longest.end(),
                                      [&](const auto& each) { return each.first == &ops; });
      const TimeNs most = known->second * loss.count;
      to = to - from > most ? from + most : to;
      if (to > from) ops.unrecorded.push_back({from, to});
    };
    const bool one_stream = before->ops == after->ops &&
                            before->ops->stream[before->row] == after->ops->stream[after->row];
    const TimeNs before_end = before->ops->end[before->row],
                 after_start = after->ops->start[after->row];
    if (one_stream) {
      add(*before->ops, before_end, after_start);
    } else {
      add(*before->ops, before_end, NextStart(*before));
      add(*after->ops, LastEnd(*after).value_or(after_start), after_start);
    }
  }
}

}  // namespace traceinject
