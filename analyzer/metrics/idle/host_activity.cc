// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/host_activity.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "analyzer/common/units.h"

namespace traceinject {
namespace {

using Kind = HostActivity::Kind;

Interval Overlap(Interval a, Interval b) {
  return {std::max(a.start, b.start), std::min(a.end, b.end)};
}

bool LongerActivityFirst(const HostActivity& a, const HostActivity& b) {
  if (a.overlap_ns != b.overlap_ns) return a.overlap_ns > b.overlap_ns;
  return a.name < b.name;
}

// Events of one kind, summed by name.
class ByName {
 public:
  ByName(Kind kind, std::uint32_t thread) : kind_(kind), thread_(thread) {}

  void Add(std::string_view name, Interval overlap) {
    if (overlap.end > overlap.start) found_[name].push_back(overlap);
  }
  std::vector<HostActivity> Longest(std::size_t keep) {
    std::vector<HostActivity> list;
    for (auto& [name, overlaps] : found_) {
      HostActivity activity{kind_, std::string(name), static_cast<std::int64_t>(overlaps.size()), 0,
                            thread_};
      activity.overlap_ns = Length(Merge(std::move(overlaps)));
      list.push_back(std::move(activity));
    }
    std::sort(list.begin(), list.end(), LongerActivityFirst);
    if (list.size() > keep) list.resize(keep);
    return list;
  }

 private:
  Kind kind_;
  std::uint32_t thread_;
  std::map<std::string_view, Intervals> found_;
};

std::string ThreadLabel(const Rank& rank, std::uint32_t thread) {
  if (thread >= rank.threads.size()) return "an unknown thread";
  const Thread& t = rank.threads[thread];
  return t.name.empty() ? fmt::format("thread {}", t.tid)
                        : fmt::format("thread {} ({})", t.tid, t.name);
}

std::string CountedTimes(const HostActivity& activity) {
  return activity.count == 1 ? activity.name : fmt::format("{} x{}", activity.name, activity.count);
}

// "thread 7: 1.2 ms in cudaStreamSynchronize, 0.1 ms in cudaMemcpyAsync x3; in range 'forward'".
std::string DescribeActivities(const Rank& rank, const Gap& gap,
                               const std::vector<HostActivity>& activities) {
  const std::uint32_t launcher = rank.api.thread[gap.launch];
  std::string text;
  for (const HostActivity& activity : activities) {
    if (!text.empty()) text += ", ";
    if (activity.thread != launcher) text += ThreadLabel(rank, activity.thread) + " ";
    switch (activity.kind) {
      case Kind::kApi:
        text += fmt::format("{} in {}", FormatTime(activity.overlap_ns), CountedTimes(activity));
        break;
      case Kind::kRange:
        text += fmt::format("{} in range '{}'", FormatTime(activity.overlap_ns),
                            CountedTimes(activity));
        break;
      case Kind::kCollective:
        text += fmt::format("{} in NCCL call {}", FormatTime(activity.overlap_ns),
                            CountedTimes(activity));
        break;
    }
  }
  return text.empty() ? "no CUDA call, NVTX range or NCCL call recorded in it" : text;
}

}  // namespace

HostActivities::HostActivities(const Rank& rank, Intervals times)
    : rank_(rank),
      times_(Merge(std::move(times))),
      api_(rank.api.start, rank.api.end, rank.api.thread, rank.threads.size(), times_),
      nvtx_(rank.nvtx.start, rank.nvtx.end, rank.nvtx.thread, rank.threads.size(), times_),
      collectives_(rank.collectives.start, rank.collectives.end, rank.collectives.thread,
                   rank.threads.size(), times_) {
  for (const std::string& domain : rank.nvtx_domains) nccl_domain_.push_back(domain == "NCCL");
}

std::vector<HostActivity> HostActivities::During(std::uint32_t thread, Interval time) const {
  std::vector<HostActivity> found = Calls(thread, time);
  for (std::vector<HostActivity> part : {Ranges(thread, time), Collectives(thread, time)}) {
    std::move(part.begin(), part.end(), std::back_inserter(found));
  }
  return found;
}

std::vector<HostActivity> HostActivities::During(const Gap& gap) const {
  if (gap.launch == kNone) return {};
  const std::uint32_t thread = rank_.api.thread[gap.launch];
  Interval time = gap.time;
  if (gap.host_late_ns > 0) time.end = time.start + gap.host_late_ns;
  std::vector<HostActivity> found = During(thread, time);
  return found.empty() ? OtherThreads(thread, time) : found;
}

std::vector<HostActivity> HostActivities::Calls(std::uint32_t thread, Interval time) const {
  ByName calls(Kind::kApi, thread);
  api_.ForEachOverlapping(thread, time, [&](std::uint32_t row) {
    calls.Add(rank_.api_names[rank_.api.name[row]].name,
              Overlap({rank_.api.start[row], rank_.api.end[row]}, time));
  });
  return calls.Longest(3);
}

std::vector<HostActivity> HostActivities::Ranges(std::uint32_t thread, Interval time) const {
  std::optional<std::uint32_t> around;
  ByName others(Kind::kRange, thread);
  nvtx_.ForEachOverlapping(thread, time, [&](std::uint32_t row) {
    const std::uint32_t domain = rank_.nvtx.domain[row];
    if (domain < nccl_domain_.size() && nccl_domain_[domain]) return;
    if (rank_.nvtx.text[row] == kNone) return;
    const Interval range{rank_.nvtx.start[row], rank_.nvtx.end[row]};
    if (range.start <= time.start && range.end >= time.end) {
      if (!around || range.start >= rank_.nvtx.start[*around]) around = row;
    } else {
      others.Add(rank_.string(rank_.nvtx.text[row]), Overlap(range, time));
    }
  });
  std::vector<HostActivity> found = others.Longest(2);
  if (around) {
    found.insert(found.begin(), {Kind::kRange, std::string(rank_.string(rank_.nvtx.text[*around])),
                                 1, time.end - time.start, thread});
  }
  return found;
}

std::vector<HostActivity> HostActivities::Collectives(std::uint32_t thread, Interval time) const {
  ByName calls(Kind::kCollective, thread);
  collectives_.ForEachOverlapping(thread, time, [&](std::uint32_t row) {
    calls.Add(rank_.string(rank_.collectives.function[row]),
              Overlap({rank_.collectives.start[row], rank_.collectives.end[row]}, time));
  });
  return calls.Longest(2);
}

std::vector<HostActivity> HostActivities::OtherThreads(std::uint32_t thread, Interval time) const {
  std::vector<HostActivity> found;
  for (std::uint32_t other = 0; other < rank_.threads.size(); ++other) {
    if (other == thread) continue;
    std::vector<HostActivity> calls = Calls(other, time);
    if (!calls.empty()) found.push_back(std::move(calls.front()));
  }
  std::sort(found.begin(), found.end(), LongerActivityFirst);
  if (found.size() > 3) found.resize(3);
  return found;
}

std::string DescribeGap(const Rank& rank, const Gap& gap,
                        const std::vector<HostActivity>& activities) {
  if (gap.op == kNone) return "no later operation in the recording";
  if (gap.launch == kNone)
    return "cause unknown: the launch call of the next operation was not recorded";
  const std::string launch = fmt::format("{} on {}", rank.api_names[rank.api.name[gap.launch]].name,
                                         ThreadLabel(rank, rank.api.thread[gap.launch]));
  const std::string host = DescribeActivities(rank, gap, activities);
  switch (gap.cause) {
    case GapCause::kQueued:
      return fmt::format(
          "queued by {}, which began before the gap: the operation waited on the device; host: {}",
          launch, host);
    case GapCause::kHostLate:
      return fmt::format("host late: {} began {} into the gap; before that: {}", launch,
                         FormatTime(gap.host_late_ns), host);
    default:
      if (gap.host_late_ns == 0)
        return fmt::format(
            "launch latency: {} began {} before the gap, and the operation had not started yet; "
            "host: {}",
            launch, FormatTime(gap.time.start - rank.api.start[gap.launch]), host);
      return fmt::format(
          "launch latency: {} began {} into the gap, {} before the operation started", launch,
          FormatTime(gap.host_late_ns), FormatTime(gap.launch_latency_ns));
  }
}

}  // namespace traceinject
