// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/host_timeline.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <queue>
#include <string>

#include "analyzer/metrics/idle/copies.h"
#include "analyzer/model/sort_columns.h"

namespace traceinject {
namespace {

// A call is taken to return from its wait at most this long before the record of the operation
// ends: the clocks of host and device differ by about a microsecond.
constexpr TimeNs kHostClockNs = 2'000;
// A launch that takes this long while the device has work in store waits for room in the queue.
constexpr TimeNs kFullQueueCallNs = 50'000, kFullQueueLeadNs = 200'000;

std::vector<bool> FeedingThreads(const Rank& rank, const GpuOps& ops) {
  std::vector<std::size_t> kernels(rank.threads.size(), 0);
  std::size_t all = 0;
  for (std::size_t row = 0; row < ops.size(); ++row) {
    if (ops.kind[row] != OpKind::kKernel || ops.launch[row] == kNone) continue;
    const std::uint32_t thread = rank.api.thread[ops.launch[row]];
    if (thread >= kernels.size()) continue;
    ++kernels[thread];
    ++all;
  }
  std::vector<bool> feeds(kernels.size());
  for (std::size_t i = 0; i < feeds.size(); ++i)
    feeds[i] = kernels[i] > 0 && kernels[i] * 100 >= all;
  return feeds;
}

bool Is(const std::vector<bool>& set, std::uint32_t thread) {
  return thread < set.size() && set[thread];
}

// Lower is more specific.
int Priority(const HostSegment& segment) {
  switch (segment.cause) {
    case IdleCause::kGc:
      return 0;
    case IdleCause::kAllocator:
      return 1;
    case IdleCause::kCheckpoint:
      return segment.waits_for == kNone ? 3 : 2;
    case IdleCause::kDataWait:
      return 4;
    case IdleCause::kSync:
      return 5;
    default:
      return 6;
  }
}

// Of operations that were launched before a moment, the one that ended last before another.
class EndedBefore {
 public:
  EndedBefore(const Rank& rank, const GpuOps& ops)
      : rank_(rank), ops_(ops), by_end_(SortedOrder(ops.end, ops.start)) {
    if (by_end_.empty() && ops.size() > 0)
      by_end_.Append({0, static_cast<std::uint32_t>(ops.size())});
  }

  std::uint32_t Find(TimeNs launched_before, TimeNs ended_before) const {
    const std::vector<RowOrder::Run>& runs = by_end_.runs();
    auto run = std::ranges::upper_bound(
        runs, ended_before, {}, [this](const RowOrder::Run& one) { return ops_.end[one.first]; });
    if (run == runs.begin()) return kNone;
    --run;
    const auto ends = ops_.end.begin() + run->first;
    std::uint32_t after =
        run->first +
        static_cast<std::uint32_t>(std::upper_bound(ends, ends + run->count, ended_before) - ends);
    // Work of other streams that was launched meanwhile may have ended too; it is little.
    for (int tries = 0; tries < 64; ++tries) {
      if (after == run->first) {
        if (run == runs.begin()) return kNone;
        --run;
        after = run->first + run->count;
      }
      const std::uint32_t launch = ops_.launch[--after];
      if (launch == kNone || rank_.api.start[launch] <= launched_before) return after;
    }
    return kNone;
  }

 private:
  const Rank& rank_;
  const GpuOps& ops_;
  RowOrder by_end_;
};

class Painter {
 public:
  void Add(TimeNs start, TimeNs end, IdleCause cause, std::uint32_t waits_for = kNone) {
    if (end > start) found_.push_back({{start, end}, cause, waits_for});
  }

  // The most specific segment at each moment; O(n log n).
  std::vector<HostSegment> Paint() {
    std::sort(found_.begin(), found_.end(), [](const HostSegment& a, const HostSegment& b) {
      if (a.time.start != b.time.start) return a.time.start < b.time.start;
      return Priority(a) < Priority(b);
    });
    GiveWaitsToCheckpoints();
    std::vector<HostSegment> painted;
    const auto later = [&](std::size_t a, std::size_t b) {
      const int pa = Priority(found_[a]), pb = Priority(found_[b]);
      return pa != pb ? pa > pb : a > b;
    };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> active(later);
    TimeNs now = std::numeric_limits<TimeNs>::min();
    for (std::size_t next = 0; next < found_.size() || !active.empty();) {
      if (active.empty()) now = std::max(now, found_[next].time.start);
      while (next < found_.size() && found_[next].time.start <= now) active.push(next++);
      while (!active.empty() && found_[active.top()].time.end <= now) active.pop();
      if (active.empty()) continue;
      const HostSegment& top = found_[active.top()];
      const TimeNs until =
          next < found_.size() ? std::min(top.time.end, found_[next].time.start) : top.time.end;
      Append(painted, top, {now, until});
      now = until;
    }
    return painted;
  }

 private:
  // Saving a program waits for the device before it reads its weights: that part of it ends when
  // the device is ready, however early it began.
  void GiveWaitsToCheckpoints() {
    TimeNs saved_until = std::numeric_limits<TimeNs>::min();
    for (HostSegment& segment : found_) {
      if (segment.cause == IdleCause::kCheckpoint)
        saved_until = std::max(saved_until, segment.time.end);
      if (segment.cause == IdleCause::kSync && segment.waits_for != kNone &&
          segment.time.end <= saved_until)
        segment.cause = IdleCause::kCheckpoint;
    }
  }

  static void Append(std::vector<HostSegment>& painted, const HostSegment& from, Interval time) {
    if (!painted.empty() && painted.back().time.end == time.start &&
        painted.back().cause == from.cause && painted.back().waits_for == from.waits_for) {
      painted.back().time.end = time.end;
      return;
    }
    painted.push_back({time, from.cause, from.waits_for});
  }

  std::vector<HostSegment> found_;
};

void AddCalls(const Rank& rank, const GpuOps& ops, const EndedBefore& ended,
              const std::vector<bool>& feeders, Painter& painter) {
  const ApiCalls& api = rank.api;
  for (std::uint32_t row = 0; row < api.size(); ++row) {
    const ApiName& name = rank.api_names[api.name[row]];
    const bool allocates = name.api_class == ApiClass::kAllocate;
    if (!allocates && name.api_class != ApiClass::kSynchronize) continue;
    if (!Is(feeders, api.thread[row]) || api.end[row] == kOpen) continue;
    // Freeing waits for the device as a synchronization does; allocating does not.
    const bool waits = !allocates || name.name.find("Free") != std::string::npos;
    std::uint32_t op = kNone;
    if (waits) op = ended.Find(api.start[row], api.end[row] + kHostClockNs);
    if (op != kNone && ops.end[op] <= api.start[row]) op = kNone;
    painter.Add(api.start[row], api.end[row], allocates ? IdleCause::kAllocator : IdleCause::kSync,
                op);
  }
}

// Whether the copy itself keeps its call: to the host it returns once the data is there; from
// pageable memory once it was read.
bool AddBlockingCopy(const Rank& rank, const GpuOps& ops, std::uint32_t row, Painter& painter) {
  const TimeNs start = rank.api.start[ops.launch[row]], end = rank.api.end[ops.launch[row]];
  const Transfer& transfer = rank.transfers[ops.detail[row]];
  if (transfer.kind == kDeviceToHost && end + kHostClockNs >= ops.end[row])
    painter.Add(start, end, IdleCause::kSync, row);
  else if (transfer.kind == kHostToDevice && transfer.src_kind == kPageable && end > ops.start[row])
    painter.Add(start, end, IdleCause::kCopy, row);
  else
    return false;
  return true;
}

// Copies and launches that do not return at once. Whatever is launched takes a place in the queue.
void AddBlockingLaunches(const Rank& rank, const GpuOps& ops, const EndedBefore& ended,
                         const std::vector<bool>& feeders, Painter& painter) {
  const ApiCalls& api = rank.api;
  for (std::uint32_t row = 0; row < ops.size(); ++row) {
    const std::uint32_t launch = ops.launch[row];
    if (launch == kNone || !Is(feeders, api.thread[launch])) continue;
    const TimeNs start = api.start[launch], end = api.end[launch];
    if (end == kOpen || ops.start[row] < start) continue;
    if (ops.kind[row] == OpKind::kMemcpy && AddBlockingCopy(rank, ops, row, painter)) continue;
    if (end - start <= kFullQueueCallNs || ops.start[row] <= end + kFullQueueLeadNs) continue;
    const std::uint32_t made_room = ended.Find(start, end);
    const bool waited = made_room != kNone && ops.end[made_room] > start;
    painter.Add(start, end, IdleCause::kQueued, waited ? made_room : kNone);
  }
}

void AddDataWaits(const Rank& rank, const std::vector<bool>& feeders, TimeNs open_end,
                  Painter& painter) {
  const auto add = [&](TimeNs start, TimeNs end) {
    painter.Add(start, end == kOpen ? open_end : end, IdleCause::kDataWait);
  };
  const DataWaits& waits = rank.data_waits;
  const bool own = std::any_of(waits.thread.begin(), waits.thread.end(),
                               [&](std::uint32_t thread) { return Is(feeders, thread); });
  for (std::size_t row = 0; row < waits.size(); ++row) {
    if (!own || Is(feeders, waits.thread[row])) add(waits.start[row], waits.end[row]);
  }
  if (waits.size() > 0) return;
  const NvtxRanges& nvtx = rank.nvtx;
  std::vector<signed char> names(rank.strings.size(), -1);  // -1: not looked at yet
  for (std::size_t row = 0; row < nvtx.size(); ++row) {
    const std::uint32_t text = nvtx.text[row];
    if (nvtx.kind[row] == NvtxKind::kMark || text == kNone || !Is(feeders, nvtx.thread[row]))
      continue;
    if (names[text] < 0) names[text] = NamesDataLoading(rank.strings[text]) ? 1 : 0;
    if (names[text] == 1) add(nvtx.start[row], nvtx.end[row]);
  }
}

void AddSpans(const Rank& rank, const std::vector<bool>& feeders, TimeNs open_end,
              Painter& painter) {
  const HostSpans& spans = rank.host_spans;
  bool own = false;
  for (std::size_t row = 0; row < spans.size(); ++row)
    own |= spans.kind[row] == HostSpanKind::kCheckpoint && Is(feeders, spans.thread[row]);
  for (std::size_t row = 0; row < spans.size(); ++row) {
    // Of a call that returned, its own record tells.
    if (spans.kind[row] == HostSpanKind::kGpuWait) continue;
    const TimeNs end = spans.end[row] == kOpen ? open_end : spans.end[row];
    // The interpreter's lock is held during a collection, whichever thread began it.
    if (spans.kind[row] == HostSpanKind::kGarbageCollection)
      painter.Add(spans.start[row], end, IdleCause::kGc);
    else if (!own || Is(feeders, spans.thread[row]))
      painter.Add(spans.start[row], end, IdleCause::kCheckpoint);
  }
}

}  // namespace

std::string_view IdleCauseName(IdleCause cause) {
  static constexpr std::array<std::string_view, kIdleCauses> kNames = {
      "data wait", "sync", "drained by sync", "allocator", "checkpoint", "gc", "launch", "python",
      "host wait", "copy", "communication",   "queued",    "unknown"};
  return kNames[static_cast<std::size_t>(cause)];
}

bool NamesDataLoading(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c != '_' && c != '-' && c != ' ')
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const std::string_view name : {"dataload", "loaddata", "loadbatch", "nextbatch", "getbatch",
                                      "fetchbatch", "datawait", "inputpipeline"}) {
    if (plain.find(name) != std::string::npos) return true;
  }
  return plain == "data" || plain == "dali";
}

HostTimeline BuildHostTimeline(const Rank& rank, const Device& device) {
  HostTimeline timeline;
  timeline.feeders = FeedingThreads(rank, device.ops);
  Painter painter;
  const EndedBefore ended(rank, device.ops);
  AddCalls(rank, device.ops, ended, timeline.feeders, painter);
  AddBlockingLaunches(rank, device.ops, ended, timeline.feeders, painter);
  AddDataWaits(rank, timeline.feeders, rank.end, painter);
  AddSpans(rank, timeline.feeders, rank.end, painter);
  timeline.segments = painter.Paint();
  return timeline;
}

}  // namespace traceinject
