// SPDX-License-Identifier: Apache-2.0
#include "injector/recorder/stall_watch.h"

#include <algorithm>
#include <utility>

#include "injector/base/clock.h"
#include "injector/base/counters.h"
#include "injector/base/ring.h"
#include "injector/cupti/allow_list.h"

namespace traceinject {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// Rows of capture_gap with a number replace one another: these are not those of windows.
constexpr std::uint64_t kFirstRow = std::uint64_t{1} << 32;
constexpr std::int64_t kWaitSpan = 3;  // host_span.kind

// Copies and memsets are left out: one of no bytes runs nothing.
bool Launches(int call_class) {
  return call_class == static_cast<int>(CallClass::kLaunch) ||
         call_class == static_cast<int>(CallClass::kGraphLaunch);
}

std::string Count(std::size_t count, const char* noun, const char* plural) {
  return std::to_string(count) + " " + (count == 1 ? noun : plural);
}

// What tells that the program goes on.
constexpr Health kTold[] = {Health::kSyncSeen,     Health::kNvtxSeen,      Health::kNcclPluginSeen,
                            Health::kGemmSeen,     Health::kAttentionSeen, Health::kDataWaitSeen,
                            Health::kStepMarkSeen, Health::kHostSpanSeen};

}  // namespace

StallWatch::Moment StallWatch::ReadMoment(std::int64_t base_ns) {
  Moment moment;
  moment.now = NowNs() - base_ns;
  moment.monotonic = ReadClockNs(CLOCK_MONOTONIC);
  for (const Health seen : kTold) moment.told += g_counters.Get(seen);
  moment.buffers_out =
      g_counters.Get(Health::kBuffersRequested) > g_counters.Get(Health::kBuffersCompleted);
  g_rings.ForEachWait([&](int tid, std::int64_t since_ns, int kind) {
    moment.waits.push_back({tid, since_ns - base_ns, kind});
  });
  return moment;
}

template <typename Row>
void StallWatch::LookAtOperations(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const std::int64_t end = row.start + row.dur;
    last_end_ = std::max(last_end_, end);
    if (stalled() && end > gap_.start) resumed_ = std::min(resumed_, row.start);
    if (row.correlation == last_completed_) continue;  // of one graph
    last_completed_ = row.correlation;
    highest_completed_ = std::max(highest_completed_, row.correlation);
    if (const auto gone = completed_.Add(row.correlation)) forgotten_ = std::max(forgotten_, *gone);
  }
}

void StallWatch::Look() {
  if (limit_ns_ == 0) return;
  for (const ApiNameRow& name : batch_->api_names) {
    if (launches_.size() <= name.id) launches_.resize(name.id + 1);
    launches_[name.id] = Launches(name.api_class);
    uses_graphs_ |= name.api_class == static_cast<int>(CallClass::kGraphLaunch);
  }
  const std::int64_t last_end = last_end_;
  for (const ApiRow& row : batch_->apis) {
    if (row.result == 0 && row.name < launches_.size() && launches_[row.name])
      launched_.Add({row.correlation, row.start});
  }
  LookAtOperations(batch_->kernels);
  LookAtOperations(batch_->memcpys);
  LookAtOperations(batch_->memsets);
  nothing_outstanding_ &= batch_->apis.empty() && last_end == last_end_;
}

bool StallWatch::HasLongWait(const Moment& moment) const {
  return std::any_of(moment.waits.begin(), moment.waits.end(),
                     [&](const Wait& wait) { return moment.now - wait.since >= limit_ns_; });
}

bool StallWatch::WantsAll(const Moment& moment) {
  if (limit_ns_ == 0 || stalled() || !IsLongQuiet(moment.now)) return false;
  if (asked_at_ != 0 && !IsLongAgo(asked_at_, moment)) return false;
  const bool is_silent = IsLongAgo(told_at_, moment) && IsLongAgo(no_buffers_out_at_, moment);
  if (!is_silent && !HasLongWait(moment)) return false;
  asked_at_ = moment.monotonic;
  return true;
}

// Calls without an operation; `newest`: of those after all that have one.
StallWatch::Outstanding StallWatch::FindOutstanding(bool newest) const {
  std::vector<std::uint64_t> completed = completed_.held();
  std::sort(completed.begin(), completed.end());
  const std::uint64_t from = newest ? highest_completed_ : forgotten_;
  Outstanding found;
  std::vector<std::uint64_t> ids;  // rows that wait for a file are looked at again
  for (const Launch& launch : launched_.held()) {
    if (launch.correlation <= from ||
        std::binary_search(completed.begin(), completed.end(), launch.correlation))
      continue;
    ids.push_back(launch.correlation);
    found.first = std::min(found.first, launch.start);
  }
  std::sort(ids.begin(), ids.end());
  found.count = static_cast<std::size_t>(std::unique(ids.begin(), ids.end()) - ids.begin());
  return found;
}

void StallWatch::NoteTold(const Moment& moment) {
  if (moment.told == told_ && told_at_ != 0) return;
  told_ = moment.told;
  told_at_ = moment.monotonic;
}

void StallWatch::JudgeUnanswered(const Moment& moment) {
  if (limit_ns_ == 0) return;
  Look();
  NoteTold(moment);
  if (stalled() || (!HasLongWait(moment) && !IsLongAgo(told_at_, moment))) return;
  Outstanding outstanding = FindOutstanding(uses_graphs_);
  if (outstanding.count == 0) outstanding.first = moment.now - (moment.monotonic - told_at_);
  Mark(moment, outstanding);
  detail_ += "; CUPTI does not respond";
}

void StallWatch::Judge(const Moment& moment) {
  if (limit_ns_ == 0) return;
  Look();
  NoteTold(moment);
  if (!moment.buffers_out || no_buffers_out_at_ == 0) no_buffers_out_at_ = moment.monotonic;
  if (stalled() && resumed_ != kNever) EndStall(resumed_);
  if (!IsLongQuiet(moment.now)) {
    asked_at_ = 0;
    nothing_outstanding_ = false;
  }
  if (asked_at_ != 0 && !stalled()) MarkIfStalled(moment);
}

void StallWatch::MarkIfStalled(const Moment& moment) {
  const bool has_long_wait = HasLongWait(moment);
  if (nothing_outstanding_ && !has_long_wait) return;
  // What a CUDA graph captured was launched once and did not run then, and a record may be lost: a
  // call that others overtook proves little.
  const Outstanding outstanding = FindOutstanding(uses_graphs_ || !has_long_wait);
  nothing_outstanding_ = outstanding.count == 0;
  if (has_long_wait || (outstanding.count > 0 && moment.now - outstanding.first >= limit_ns_))
    Mark(moment, outstanding);
}

void StallWatch::Mark(const Moment& moment, const Outstanding& outstanding) {
  std::int64_t first = outstanding.first;
  for (const Wait& wait : moment.waits) {
    batch_->host_spans.push_back(
        {wait.since, moment.now - wait.since, dictionary_->Thread(wait.tid), kWaitSpan, wait.kind});
    if (outstanding.count == 0) first = std::min(first, wait.since);
    g_counters.Add(Health::kHostSpanSeen);
  }
  gap_.start = std::max(last_end_, first);
  gap_.dur = -1;
  gap_.row = std::max(kFirstRow, gap_.row + 1);
  ++count_;
  resumed_ = kNever;
  batch_->gaps.push_back(gap_);
  detail_ = "the last: " + Count(outstanding.count, "launch", "launches") +
            " without a completed operation, " + Count(moment.waits.size(), "thread", "threads") +
            " waiting for the GPU";
}

void StallWatch::EndStall(std::int64_t end) {
  gap_.dur = ElapsedNs(gap_.start, end);
  batch_->gaps.push_back(gap_);
}

void StallWatch::Forget(std::int64_t now) {
  if (stalled()) EndStall(now);
  launched_.Clear();
  completed_.Clear();
  forgotten_ = highest_completed_;
  last_end_ = now;
  told_at_ = no_buffers_out_at_ = asked_at_ = 0;
  nothing_outstanding_ = false;
}

}  // namespace traceinject
