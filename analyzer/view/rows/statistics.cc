// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/statistics.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "analyzer/view/rows/row_names.h"

namespace traceinject {
namespace {

constexpr std::uint32_t kRowsPerLook = 1 << 16;  // at the flag

// Lengths of the events of each label, over all rows.
class Lengths {
 public:
  Lengths(const Run& run, const RowModel& model) : run_(run), model_(model) {}

  // False if cancelled.
  bool AddRow(std::uint32_t row, TimeNs start, TimeNs end, const std::atomic<bool>& cancelled) {
    RowNames names(run_, model_, row, names_ ? &*names_ : nullptr);
    if (!names_ || !names.SharesNamesWith(*names_)) group_of_.assign(names.names().size(), kNone);
    const std::vector<Lane>& lanes = model_.rows[row].lanes;
    for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
      const auto [first, last] = EventsStartingIn(lanes[lane], start, end);
      for (std::uint32_t event = first; event < last; ++event) {
        if (event % kRowsPerLook == 0 && cancelled) return false;
        const std::uint32_t name = names.Of({row, lane, event});
        std::uint32_t& group = group_of_[name];
        if (group == kNone) group = Group(names.names()[name].label);
        lengths_[group].push_back(lanes[lane].end(event) - lanes[lane].start(event));
      }
    }
    names_.emplace(std::move(names));
    return !cancelled;
  }

  const std::vector<std::string_view>& labels() const { return labels_; }
  std::vector<std::vector<TimeNs>>& lengths() { return lengths_; }

 private:
  std::uint32_t Group(std::string_view label) {
    const auto [found, is_new] = groups_.emplace(label, static_cast<std::uint32_t>(labels_.size()));
    if (is_new) {
      labels_.push_back(label);
      lengths_.emplace_back();
    }
    return found->second;
  }

  const Run& run_;
  const RowModel& model_;
  std::optional<RowNames> names_;        // of the row before
  std::vector<std::uint32_t> group_of_;  // by its names; kNone: not met yet
  std::unordered_map<std::string_view, std::uint32_t> groups_;
  std::vector<std::string_view> labels_;
  std::vector<std::vector<TimeNs>> lengths_;
};

// `lengths` must not be empty; they are put into another order.
NameStatistics Summarize(std::vector<TimeNs>& lengths) {
  NameStatistics summary;
  summary.count = lengths.size();
  summary.min_ns = summary.max_ns = lengths.front();
  for (const TimeNs length : lengths) {
    summary.total_ns += length;
    summary.min_ns = std::min(summary.min_ns, length);
    summary.max_ns = std::max(summary.max_ns, length);
  }
  summary.mean_ns = static_cast<double>(summary.total_ns) / static_cast<double>(summary.count);
  // Nearest rank: the smallest length that is no shorter than so many percent of them.
  const auto at_percent = [&](std::size_t percent) {
    return lengths.begin() + static_cast<std::ptrdiff_t>((lengths.size() * percent + 99) / 100 - 1);
  };
  const auto median = at_percent(50), p99 = at_percent(99);
  std::nth_element(lengths.begin(), median, lengths.end());
  summary.median_ns = *median;
  std::nth_element(median, p99, lengths.end());
  summary.p99_ns = *p99;
  return summary;
}

std::string KindTitle(RowKind kind) {
  switch (kind) {
    case RowKind::kDevice:
    case RowKind::kStream:
      return "GPU operations";
    case RowKind::kNvtx:
      return "NVTX ranges";
    case RowKind::kCode:
      return "lines of Python";
    case RowKind::kFrames:
      return "frames of Python";
    case RowKind::kOperators:
      return "operators";
    case RowKind::kCollectives:
      return "NCCL calls";
    case RowKind::kCalls:
      return "CUDA calls";
    case RowKind::kSteps:
      return "steps";
    case RowKind::kIdle:
      return "idle time";
    case RowKind::kDataWaits:
      return "data waits";
    case RowKind::kHostSpans:
      return "pauses";
    default:
      return "other rows";
  }
}

}  // namespace

std::pair<std::uint32_t, std::uint32_t> EventsStartingIn(const Lane& lane, TimeNs start,
                                                         TimeNs end) {
  // Events of a lane do not overlap: only one can end after a time and have started before it.
  const auto first_at = [&lane](TimeNs time) {
    const std::size_t event = lane.FirstEndingAfter(time);
    const bool before = event < lane.size() && lane.start(event) < time;
    return static_cast<std::uint32_t>(before ? event + 1 : event);
  };
  const std::uint32_t first = first_at(start);
  return {first, std::max(first, first_at(end))};
}

std::optional<Statistics> ComputeStatistics(const Run& run, const RowModel& model,
                                            const StatisticsQuery& query,
                                            const std::atomic<bool>& cancelled) {
  Lengths found(run, model);
  for (const std::uint32_t row : query.rows) {
    if (!found.AddRow(row, query.start, query.end, cancelled)) return std::nullopt;
  }
  Statistics statistics;
  statistics.query = query;
  std::vector<TimeNs> all;
  for (std::size_t group = 0; group < found.labels().size(); ++group) {
    if (cancelled) return std::nullopt;
    std::vector<TimeNs>& lengths = found.lengths()[group];
    statistics.names.push_back(Summarize(lengths));
    statistics.names.back().name = found.labels()[group];
    all.insert(all.end(), lengths.begin(), lengths.end());
    lengths = {};
  }
  if (!all.empty()) statistics.all = Summarize(all);
  const auto total = static_cast<double>(statistics.all.total_ns);
  const auto share = [total](NameStatistics& of) {
    of.share = total > 0 ? static_cast<double>(of.total_ns) / total : 0;
  };
  for (NameStatistics& name : statistics.names) share(name);
  share(statistics.all);
  SortStatistics(statistics.names, StatisticsColumn::kTotal, true);
  return statistics;
}

void SortStatistics(std::vector<NameStatistics>& names, StatisticsColumn column, bool descending) {
  const auto by = [&](auto value) {
    std::sort(names.begin(), names.end(), [&](const NameStatistics& a, const NameStatistics& b) {
      if (value(a) != value(b)) return descending ? value(b) < value(a) : value(a) < value(b);
      return a.name < b.name;
    });
  };
  switch (column) {
    case StatisticsColumn::kName:
      return by([](const NameStatistics& of) -> const std::string& { return of.name; });
    case StatisticsColumn::kCount:
      return by([](const NameStatistics& of) { return of.count; });
    case StatisticsColumn::kTotal:
    case StatisticsColumn::kShare:
      return by([](const NameStatistics& of) { return of.total_ns; });
    case StatisticsColumn::kMean:
      return by([](const NameStatistics& of) { return of.mean_ns; });
    case StatisticsColumn::kMedian:
      return by([](const NameStatistics& of) { return of.median_ns; });
    case StatisticsColumn::kP99:
      return by([](const NameStatistics& of) { return of.p99_ns; });
    case StatisticsColumn::kMin:
      return by([](const NameStatistics& of) { return of.min_ns; });
    case StatisticsColumn::kMax:
      return by([](const NameStatistics& of) { return of.max_ns; });
  }
}

std::vector<RowGroup> RowGroups(const RowModel& model) {
  std::vector<RowGroup> groups;
  for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
    const RowKind kind = model.rows[row].kind;
    if (kind == RowKind::kDevice || model.rows[row].lanes.empty()) continue;
    const std::string title = KindTitle(kind);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const RowGroup& known) { return known.title == title; });
    if (group == groups.end()) group = groups.insert(groups.end(), {title, {}});
    group->rows.push_back(row);
  }
  // What was made of the events comes after them.
  std::stable_partition(groups.begin(), groups.end(), [&](const RowGroup& group) {
    const RowKind kind = model.rows[group.rows.front()].kind;
    return kind != RowKind::kSteps && kind != RowKind::kIdle;
  });
  return groups;
}

RowGroup GroupOfRow(const RowModel& model, std::uint32_t row) {
  const Row& chosen = model.rows[row];
  RowGroup group{chosen.label, {}};
  if (chosen.kind != RowKind::kDevice && chosen.kind != RowKind::kRank) {
    group.rows = {row};
    return group;
  }
  for (std::uint32_t other = 0; other < model.rows.size(); ++other) {
    const Row& stream = model.rows[other];
    if (stream.kind == RowKind::kStream && stream.rank == chosen.rank &&
        (chosen.kind == RowKind::kRank || stream.device == chosen.device)) {
      group.rows.push_back(other);
    }
  }
  return group;
}

}  // namespace traceinject
