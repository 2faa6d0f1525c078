// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/nvtx_projection.h"

#include <algorithm>
#include <limits>
#include <set>

#include "analyzer/metrics/steps/nvtx_steps.h"

namespace traceinject {
namespace {

// An operation at its launch.
struct Launched {
  TimeNs time = 0;
  TimeNs gpu_ns = 0;
  std::uint32_t thread = kNone;
  bool kernel = false, counts = false;

  LaunchedWork work() const { return {gpu_ns, 1, kernel ? 1 : 0}; }
};

struct OpenRange {
  Interval time;
  std::uint32_t row = kNone;  // of Rank::nvtx
  bool counts = false;
};

// Ranges and launches of one thread, swept from the first to the last moment.
class ThreadSweep {
 public:
  // `ranges`: by start, of equal starts the longest first. `rows_of`: per row of Rank::nvtx where
  // its figures go.
  ThreadSweep(std::vector<OpenRange> ranges, std::vector<Launched> launched,
              const std::vector<NvtxRangeWork*>& rows_of)
      : ranges_(std::move(ranges)), launched_(std::move(launched)), rows_of_(rows_of) {}

  void MarkCounted(const Intervals& windows) {
    std::vector<std::uint32_t> counted{0};
    for (const Launched& one : launched_) counted.push_back(counted.back() + (one.counts ? 1 : 0));
    const auto position = [this](TimeNs time) {
      return std::partition_point(launched_.begin(), launched_.end(),
                                  [&](const Launched& one) { return one.time < time; }) -
             launched_.begin();
    };
    for (OpenRange& range : ranges_) {
      const auto first = static_cast<std::size_t>(position(range.time.start));
      const auto last = static_cast<std::size_t>(position(range.time.end));
      range.counts =
          first >= last ? Contains(windows, range.time.start) : counted[last] > counted[first];
      if (range.counts) ++rows_of_[range.row]->count;
    }
  }

  // Returns the counted work outside of all ranges.
  LaunchedWork Run() {
    std::vector<std::uint32_t> by_end(ranges_.size());
    for (std::uint32_t i = 0; i < by_end.size(); ++i) by_end[i] = i;
    std::stable_sort(by_end.begin(), by_end.end(), [this](std::uint32_t a, std::uint32_t b) {
      return ranges_[a].time.end < ranges_[b].time.end;
    });
    std::size_t begun = 0, ended = 0;
    const auto pass_ranges = [&](TimeNs until) {
      for (;;) {
        const bool begins = begun < ranges_.size() && ranges_[begun].time.start <= until;
        const bool ends = ended < by_end.size() && ranges_[by_end[ended]].time.end <= until;
        if (!begins && !ends) return;
        // At one moment ranges end before others begin. An empty range was left out.
        if (ends && (!begins || ranges_[by_end[ended]].time.end <= ranges_[begun].time.start)) {
          Leave(by_end[ended++]);
        } else {
          Enter(static_cast<std::uint32_t>(begun++));
        }
      }
    };
    for (const Launched& one : launched_) {
      pass_ranges(one.time);
      if (one.counts) Launch(one.work());
    }
    pass_ranges(kOpen);
    return outside_;
  }

 private:
  struct SameName {
    int open = 0;
    TimeNs since = 0;
    LaunchedWork before;
  };

  void PassTime(TimeNs now) {
    if (!open_.empty() && ranges_[*open_.rbegin()].counts)
      rows_of_[ranges_[*open_.rbegin()].row]->host_self_ns += now - now_;
    now_ = now;
  }
  void Enter(std::uint32_t i) {
    PassTime(ranges_[i].time.start);
    open_.insert(i);
    if (!ranges_[i].counts) return;
    SameName& name = names_[rows_of_[ranges_[i].row]];
    if (name.open++ == 0) {
      name.since = now_;
      name.before = passed_;
    }
  }
  void Leave(std::uint32_t i) {
    PassTime(ranges_[i].time.end);
    open_.erase(i);
    if (!ranges_[i].counts) return;
    NvtxRangeWork* const row = rows_of_[ranges_[i].row];
    SameName& name = names_[row];
    if (--name.open > 0) return;
    row->host_total_ns += now_ - name.since;
    row->total += passed_ - name.before;
  }
  void Launch(const LaunchedWork& work) {
    passed_ += work;
    (open_.empty() ? outside_ : rows_of_[ranges_[*open_.rbegin()].row]->self) += work;
  }

  std::vector<OpenRange> ranges_;
  std::vector<Launched> launched_;
  const std::vector<NvtxRangeWork*>& rows_of_;
  std::set<std::uint32_t> open_;  // indices of ranges: the last one is the innermost
  std::map<NvtxRangeWork*, SameName> names_;
  TimeNs now_ = 0;
  LaunchedWork passed_, outside_;
};

// By thread; those without a known launch under the last index.
std::vector<std::vector<Launched>> LaunchesByThread(const Rank& rank,
                                                    const std::vector<ProjectedDevice>& devices) {
  std::vector<std::vector<Launched>> threads(rank.threads.size() + 1);
  for (const ProjectedDevice& each : devices) {
    const GpuOps& ops = each.device->ops;
    auto range = each.ranges.begin();
    for (std::size_t row = 0; row < ops.size(); ++row) {
      while (range != each.ranges.end() && row >= range->end) ++range;
      Launched one;
      one.gpu_ns = ops.end[row] - ops.start[row];
      one.kernel = ops.kind[row] == OpKind::kKernel;
      one.counts = range != each.ranges.end() && row >= range->begin;
      std::size_t thread = rank.threads.size();
      if (const std::uint32_t launch = ops.launch[row]; launch != kNone) {
        one.time = rank.api.start[launch];
        thread = std::min<std::size_t>(thread, rank.api.thread[launch]);
      }
      threads[thread].push_back(one);
    }
  }
  for (std::vector<Launched>& launched : threads) {
    std::stable_sort(launched.begin(), launched.end(),
                     [](const Launched& a, const Launched& b) { return a.time < b.time; });
  }
  return threads;
}

std::vector<std::vector<OpenRange>> RangesByThread(const Rank& rank) {
  std::vector<std::vector<OpenRange>> threads(rank.threads.size());
  const NvtxRanges& nvtx = rank.nvtx;
  for (std::uint32_t row = 0; row < nvtx.size(); ++row) {
    const TimeNs end = nvtx.end[row] == kOpen ? rank.end : nvtx.end[row];
    if (nvtx.kind[row] == NvtxKind::kMark || nvtx.thread[row] >= threads.size()) continue;
    if (end > nvtx.start[row])
      threads[nvtx.thread[row]].push_back({{nvtx.start[row], end}, row, false});
  }
  for (std::vector<OpenRange>& ranges : threads) {
    std::stable_sort(ranges.begin(), ranges.end(), [](const OpenRange& a, const OpenRange& b) {
      return a.time.start != b.time.start ? a.time.start < b.time.start : a.time.end > b.time.end;
    });
  }
  return threads;
}

// When something counts on the host.
Intervals HostWindows(const std::vector<ProjectedDevice>& devices) {
  Intervals windows;
  bool restricted = false;
  for (const ProjectedDevice& each : devices) {
    windows.insert(windows.end(), each.windows.begin(), each.windows.end());
    restricted |= each.restricted;
  }
  if (!restricted) return {{std::numeric_limits<TimeNs>::min(), kOpen}};
  return Merge(std::move(windows));
}

}  // namespace

LaunchedWork& LaunchedWork::operator+=(const LaunchedWork& other) {
  gpu_ns += other.gpu_ns;
  operations += other.operations;
  kernels += other.kernels;
  return *this;
}

LaunchedWork LaunchedWork::operator-(const LaunchedWork& other) const {
  return {gpu_ns - other.gpu_ns, operations - other.operations, kernels - other.kernels};
}

std::string NvtxKindName(std::string_view text) {
  if (const std::string_view prefix = StepPrefix(text); !prefix.empty())
    return std::string(prefix) + "N";
  for (const std::string_view mark : {", seq = ", ", op_id = "})
    text = text.substr(0, text.find(mark));
  return text.empty() ? "(no name)" : std::string(text);
}

void NvtxProjector::Add(const Rank& rank, const std::vector<ProjectedDevice>& devices) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, NvtxRangeWork*> known;  // by domain and text
  std::vector<NvtxRangeWork*> rows_of(rank.nvtx.size());
  for (std::uint32_t row = 0; row < rank.nvtx.size(); ++row) {
    const std::uint32_t domain = rank.nvtx.domain[row], text = rank.nvtx.text[row];
    NvtxRangeWork*& work = known[{domain, text}];
    if (work == nullptr) {
      const std::string name = NvtxKindName(rank.string(text));
      const std::string in =
          domain < rank.nvtx_domains.size() ? rank.nvtx_domains[domain] : std::string();
      work = &ranges_[{in, name}];
      work->name = name;
      work->domain = in;
    }
    rows_of[row] = work;
  }
  const Intervals windows = HostWindows(devices);
  std::vector<std::vector<OpenRange>> ranges = RangesByThread(rank);
  std::vector<std::vector<Launched>> launched = LaunchesByThread(rank, devices);
  for (std::size_t thread = 0; thread < ranges.size(); ++thread) {
    ThreadSweep sweep(std::move(ranges[thread]), std::move(launched[thread]), rows_of);
    sweep.MarkCounted(windows);
    outside_ += sweep.Run();
  }
  for (const Launched& one : launched.back()) {
    if (one.counts) unknown_ += one.work();
  }
}

std::vector<NvtxRangeWork> NvtxProjector::Finish() const {
  std::vector<NvtxRangeWork> list;
  for (const auto& [name, work] : ranges_) {
    if (work.count > 0) list.push_back(work);
  }
  std::stable_sort(list.begin(), list.end(), [](const NvtxRangeWork& a, const NvtxRangeWork& b) {
    return a.total.gpu_ns != b.total.gpu_ns ? a.total.gpu_ns > b.total.gpu_ns
                                            : a.host_total_ns > b.host_total_ns;
  });
  const auto add_outside = [&list](const char* name, const LaunchedWork& work) {
    if (work.operations == 0) return;
    NvtxRangeWork row;
    row.name = name;
    row.outside = true;
    row.total = row.self = work;
    list.push_back(row);
  };
  add_outside("(in no range)", outside_);
  add_outside("(launch not recorded)", unknown_);
  return list;
}

}  // namespace traceinject
