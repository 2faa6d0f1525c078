// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/replay.h"

#include <algorithm>
#include <limits>
#include <memory>

namespace traceinject {
namespace {

constexpr TimeNs kDefaultLatencyNs = 8'000;
constexpr TimeNs kAsyncCopyCallNs = 10'000;
constexpr TimeNs kUnset = std::numeric_limits<TimeNs>::min();
constexpr TimeNs kClockNs = 2'000;

// The fifth percentile of launch latency where the device was idle. With work in store the latency
// says how far the host was ahead, nothing else.
TimeNs UsualLatency(const Rank& rank, const GpuOps& ops) {
  std::vector<TimeNs> latencies;
  TimeNs busy_until = std::numeric_limits<TimeNs>::min();
  for (std::size_t row = 0; row < ops.size(); ++row) {
    const std::uint32_t launch = ops.launch[row];
    if (launch != kNone && ops.start[row] > busy_until && rank.api.start[launch] > busy_until &&
        rank.api.start[launch] <= ops.start[row])
      latencies.push_back(ops.start[row] - rank.api.start[launch]);
    busy_until = std::max(busy_until, ops.end[row]);
  }
  if (latencies.size() < 20) return kDefaultLatencyNs;
  const auto at = latencies.begin() + static_cast<std::ptrdiff_t>(latencies.size() / 20);
  std::nth_element(latencies.begin(), at, latencies.end());
  return *at;
}

}  // namespace

// Plays one scenario: the host drives, the device follows as far as a wait needs it to.
class Player {
 public:
  Player(const Replay& replay, const Scenario& scenario)
      : replay_(replay),
        scenario_(scenario),
        api_(replay.rank_.api),
        ops_(replay.ops_),
        some_fade_(scenario.without_communication || scenario.upload_rate > 0),
        ended_(replay.watched_.size(), kUnset),
        next_watched_(WatchedRow()) {
    if (ops_.size() > 0)
      recorded_ = lasting_ = device_ = std::min(ops_.start.front(), replay_.steps_.start_ns);
  }

  std::vector<TimeNs> Play() {
    std::uint32_t call = 0;
    for (const HostSegment& segment : replay_.segments_) {
      // A call that blocks launches at the very start of its own segment.
      const TimeNs before = segment.time.start + (segment.cause == IdleCause::kCheckpoint ? 0 : 1);
      for (; call < api_.size() && api_.start[call] < before; ++call) Launch(call);
      MoveTo(segment.time.start);
      const TimeNs arrived = host_;
      const bool kept = KeepsTime(segment);
      const bool left_out =
          segment.cause == IdleCause::kCheckpoint && Without(IdleCause::kCheckpoint);
      for (; call < api_.size() && api_.start[call] < segment.time.end; ++call) {
        launched_[call] = kept ? arrived + (api_.start[call] - segment.time.start) : arrived;
        calls_ = call + 1;
        if (left_out) SetLeftOut(call);
      }
      Pass(segment);
    }
    for (; call < api_.size(); ++call) Launch(call);
    Device(static_cast<std::uint32_t>(ops_.size()));
    return StepLengths();
  }

 private:
  bool Without(IdleCause cause) const { return scenario_.without[static_cast<std::size_t>(cause)]; }
  bool KeepsTime(const HostSegment& segment) const {
    return segment.waits_for == kNone && !Without(segment.cause) &&
           segment.cause != IdleCause::kQueued;
  }

  // Host time without segments.
  void MoveTo(TimeNs time) {
    if (time <= now_) return;
    // What lies before the steps is none of the scenario's business.
    const bool in_steps = now_ >= replay_.steps_.start_ns;
    if (!started_) {
      host_ = time;
      started_ = true;
    } else if (!scenario_.without_launching || !in_steps) {
      host_ += std::max<TimeNs>(0, time - now_ - (in_steps ? recorder_ns_ : 0));
    }
    recorder_ns_ = 0;
    now_ = time;
  }

  void Launch(std::uint32_t call) {
    MoveTo(api_.start[call]);
    launched_[call] = host_;
    calls_ = call + 1;
    if (replay_.launches_[call]) recorder_ns_ += scenario_.recorder_ns;
  }

  void Pass(const HostSegment& segment) {
    const TimeNs length = segment.time.end - segment.time.start;
    now_ = segment.time.end;
    if (segment.time.end <= replay_.steps_.start_ns) {
      host_ += length;
      return;
    }
    // A launch that waited for room in the queue: the device sets the pace anyway.
    if (segment.cause == IdleCause::kQueued) return;
    if (Without(segment.cause)) {
      if (segment.cause == IdleCause::kDataWait) host_ += HandOver(length);
      return;
    }
    // From pinned memory neither the copy nor a synchronisation after it would have waited.
    if (scenario_.upload_rate > 0 && segment.waits_for != kNone && IsUpload(segment.waits_for)) {
      host_ += std::min(length, kAsyncCopyCallNs);
      return;
    }
    if (segment.waits_for == kNone) {
      host_ += length;
      return;
    }
    Device(segment.waits_for + 1);
    const TimeNs after = segment.time.end - ops_.end[segment.waits_for];
    host_ = std::max(host_, EndOf(segment.waits_for) + after);
  }

  // One operation, read once: a replay is bound by memory.
  struct Op {
    std::uint32_t row = 0, launch = kNone;
    TimeNs start = 0, end = 0;
    TimeNs called = kUnset;  // when it was launched; kUnset: not known
    TimeNs length() const { return end - start; }
  };

  // Ops that other ops may wait for only by chance of the scenario: they fade out.
  bool Fades(const Op& op) const {
    if (!some_fade_ && left_out_.empty()) return false;
    if (scenario_.without_communication && ops_.kernel_class[op.row] == KernelClass::kComm)
      return true;
    return LeftOut(op.launch) || (scenario_.upload_rate > 0 && IsUpload(op.row));
  }
  // Saving a program reads its weights: these copies go with it.
  bool LeftOut(std::uint32_t launch) const {
    return launch < left_out_.size() && left_out_[launch];
  }
  void SetLeftOut(std::uint32_t call) {
    if (left_out_.empty()) left_out_.resize(api_.size());
    left_out_[call] = true;
  }
  // From pageable memory to the device.
  bool IsUpload(std::uint32_t row) const { return IsPageableUpload(replay_.rank_, ops_, row); }

  Op Read(std::uint32_t row) const {
    Op op{row, ops_.launch[row], ops_.start[row], ops_.end[row]};
    if (op.launch == kNone) return op;
    const TimeNs called = api_.start[op.launch];
    if (called <= op.start + kClockNs) op.called = called;
    return op;
  }

  // Runs the operations before row `until`.
  void Device(std::uint32_t until) {
    for (; next_op_ < until; ++next_op_) {
      const Op op = Read(next_op_);
      const TimeNs ended = Fades(op) ? Fade(op) : Operate(op);
      if (op.row == next_watched_) Watch(ended);
      recorded_ = std::max(recorded_, op.end);
    }
  }
  void Watch(TimeNs ended) {
    ended_[watched_++] = ended;
    next_watched_ = WatchedRow();
  }
  std::uint32_t WatchedRow() const {
    return watched_ < ended_.size() ? replay_.watched_[watched_] : kNone;
  }

  TimeNs LaunchTime(const Op& op) const {
    if (op.called == kUnset) return kUnset;
    // Launched by a thread that is no feeder, after the host's present moment.
    return op.launch < calls_ ? launched_[op.launch] : host_;
  }

  TimeNs Start(const Op& op) const {
    const TimeNs launched = LaunchTime(op);
    const TimeNs gap = op.start - recorded_;
    const bool late = launched != kUnset && gap > 0 && op.called > recorded_;
    const TimeNs usual = scenario_.without_launching ? kGraphSwitchNs : kSwitchNs;
    TimeNs after = late ? std::min(gap, usual) : gap;
    if (gap <= 0) after = std::min<TimeNs>(0, op.start - lasting_);
    TimeNs begin = device_ + after;
    if (launched == kUnset) return begin;
    const TimeNs recorded = op.start - op.called;
    const TimeNs latency = late ? recorded : std::min(recorded, replay_.usual_latency_ns_);
    return std::max(begin, launched + latency);
  }

  // These two return when the operation has ended.
  TimeNs Operate(const Op& op) {
    const TimeNs ended = Start(op) + op.length();
    device_ = std::max(device_, ended);
    lasting_ = std::max(lasting_, op.end);
    return ended;
  }

  // Counts only as far as nothing else ran meanwhile.
  TimeNs Fade(const Op& op) {
    const TimeNs length = op.length();
    const TimeNs exposed = std::max<TimeNs>(0, op.end - std::max(recorded_, op.start));
    if (scenario_.upload_rate > 0 && IsUpload(op.row) && length > 0) {
      const double bytes = static_cast<double>(replay_.rank_.transfers[ops_.detail[op.row]].bytes);
      const double ideal = std::min(bytes / scenario_.upload_rate, static_cast<double>(length));
      const TimeNs launched = LaunchTime(op);
      if (launched != kUnset) device_ = std::max(device_, launched + replay_.usual_latency_ns_);
      device_ +=
          static_cast<TimeNs>(ideal * static_cast<double>(exposed) / static_cast<double>(length));
    }
    return device_;
  }

  // Of a watched operation that has ended.
  TimeNs EndOf(std::uint32_t row) const {
    const auto at = std::lower_bound(replay_.watched_.begin(), replay_.watched_.end(), row);
    return ended_[static_cast<std::size_t>(at - replay_.watched_.begin())];
  }

  std::vector<TimeNs> StepLengths() const {
    const Steps& steps = replay_.steps_;
    std::vector<TimeNs> lengths;
    TimeNs before = steps.before == kNone ? steps.start_ns : EndOf(steps.before);
    for (const Step& step : steps.steps) {
      TimeNs end = step.last_op == kNone ? before : EndOf(step.last_op);
      end = std::max(end, before);
      lengths.push_back(end - before);
      before = end;
    }
    return lengths;
  }

  const Replay& replay_;
  const Scenario& scenario_;
  const ApiCalls& api_;
  const GpuOps& ops_;
  const bool some_fade_;                 // operations of some kind
  std::unique_ptr<TimeNs[]> launched_ =  // of the calls so far, replayed
      std::make_unique_for_overwrite<TimeNs[]>(api_.size());
  std::uint32_t calls_ = 0;     // so far
  std::vector<bool> left_out_;  // per call: part of what the scenario does without; empty: none
  std::vector<TimeNs> ended_;   // as Replay::watched_, replayed
  std::size_t watched_ = 0;     // of these, how many have ended
  std::uint32_t next_watched_;  // row of the next; kNone: there is none
  TimeNs now_ = std::numeric_limits<TimeNs>::min(), host_ = 0;  // recorded, replayed
  bool started_ = false;
  TimeNs recorder_ns_ = 0;  // in the host time that comes next
  std::uint32_t next_op_ = 0;
  TimeNs device_ = 0;    // replayed end of what ran so far
  TimeNs recorded_ = 0;  // recorded end of what ran so far
  TimeNs lasting_ = 0;   // the same of what does not fade
};

Replay::Replay(const Rank& rank, const traceinject::Device& device, const HostTimeline& timeline,
               const GapCauses& causes, const Steps& steps)
    : rank_(rank),
      ops_(device.ops),
      steps_(steps),
      launches_(rank.api.size()),
      usual_latency_ns_(UsualLatency(rank, device.ops)) {
  for (const std::uint32_t launch : ops_.launch) {
    if (launch != kNone) launches_[launch] = true;
  }
  // On its way from a wait to the next launch the host does work of its own, whatever it waited
  // for.
  std::vector<HostSegment> shown = causes.host;
  for (HostSegment& segment : shown) {
    if (segment.cause != IdleCause::kHostWait) segment.cause = IdleCause::kDrainedBySync;
  }
  segments_.resize(timeline.segments.size() + shown.size());
  std::merge(timeline.segments.begin(), timeline.segments.end(), shown.begin(), shown.end(),
             segments_.begin(), [](const HostSegment& a, const HostSegment& b) {
               return a.time.start < b.time.start;
             });
  for (const HostSegment& segment : segments_)
    causes_[static_cast<std::size_t>(segment.cause)] = true;
  for (std::uint32_t row = 0; row < ops_.size(); ++row) {
    communicates_ |= ops_.kernel_class[row] == KernelClass::kComm;
    uploads_ |= IsPageableUpload(rank_, ops_, row);
  }
  const auto watch = [this](std::uint32_t row) {
    if (row != kNone) watched_.push_back(row);
  };
  for (const HostSegment& segment : segments_) watch(segment.waits_for);
  watch(steps.before);
  for (const Step& step : steps.steps) watch(step.last_op);
  std::sort(watched_.begin(), watched_.end());
  watched_.erase(std::unique(watched_.begin(), watched_.end()), watched_.end());
}

bool Replay::Changes(const Scenario& scenario) const {
  for (std::size_t cause = 0; cause < causes_.size(); ++cause) {
    if (scenario.without[cause] && causes_[cause]) return true;
  }
  return scenario.without_launching || (scenario.without_communication && communicates_) ||
         (scenario.upload_rate > 0 && uploads_);
}

std::vector<TimeNs> Replay::Run(const Scenario& scenario) const {
  return Player(*this, scenario).Play();
}

}  // namespace traceinject
