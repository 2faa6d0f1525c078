// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/replay.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <span>

#include "analyzer/metrics/idle/copies.h"
#include "analyzer/metrics/idle/launch_latency.h"
#include "analyzer/metrics/what_if/played_ops.h"
#include "analyzer/model/op_range.h"

namespace traceinject {
namespace {

constexpr TimeNs kAsyncCopyCallNs = 10'000;
constexpr TimeNs kUnset = std::numeric_limits<TimeNs>::min();

}  // namespace

// When each call was launched in a replay. Calls come one after the other, and what lies far back
// is given up once no operation asks for it: a list as long as the run would not stay in the cache.
class LaunchTimes {
 public:
  static constexpr std::size_t kBlock = 4096;  // calls

  // Of the block that a call lies in, which is that of the call before it or the next one.
  TimeNs* BlockOf(std::uint32_t call) {
    if (call / kBlock == blocks_.size()) blocks_.push_back(TakeBlock());
    return blocks_[call / kBlock].get();
  }
  TimeNs operator[](std::uint32_t call) const { return blocks_[call / kBlock][call % kBlock]; }
  void GiveUp(std::size_t block) { free_.push_back(std::move(blocks_[block])); }

 private:
  using Block = std::unique_ptr<TimeNs[]>;

  Block TakeBlock() {
    if (free_.empty()) return std::make_unique_for_overwrite<TimeNs[]>(kBlock);
    Block block = std::move(free_.back());
    free_.pop_back();
    return block;
  }

  std::vector<Block> blocks_, free_;
};

// Plays one scenario: the host drives, the device follows as far as a wait needs it to.
class Player {
 public:
  Player(const Replay& replay, const Scenario& scenario, ReplayInput& played)
      : replay_(replay),
        scenario_(scenario),
        api_(replay.rank_.api),
        ops_(replay.ops_),
        played_(played),
        switch_ns_(scenario.without_launching ? kGraphSwitchNs : kSwitchNs),
        pace_{replay.steps_.start_ns, scenario.recorder_ns, scenario.without_launching,
              scenario.gone.get()},
        changes_(ChangesOf(scenario)),
        ended_(replay.watched_.size(), kUnset),
        next_watched_(WatchedRow()),
        next_changed_(ChangedRow()) {
    device_.ended = device_.began = device_.lasting = replay.begin_;
  }

  // What the host does before a moment, and the device after it.
  void PlayUntil(TimeNs time) {
    const std::vector<HostSegment>& segments = replay_.segments_;
    for (; segment_ < segments.size() && segments[segment_].time.start < time; ++segment_)
      Play(segments[segment_]);
    LaunchUntil(time);
    // What nothing that the host still does can change might run later as well, but now other
    // scenarios read the same columns.
    RunDevice<true>(static_cast<std::uint32_t>(ops_.size()));
    GiveUpLaunchTimes();
  }
  // The first operation that has not run.
  std::uint32_t next_op() const { return next_op_; }
  // Plays the rest.
  void Finish() {
    PlayUntil(kOpen);
    RunDevice<false>(static_cast<std::uint32_t>(ops_.size()));
  }
  // Once all operations of the steps have run; those of other steps are no lengths.
  std::vector<TimeNs> StepLengths() const {
    const Steps& steps = replay_.steps_;
    std::vector<TimeNs> lengths;
    TimeNs before = steps.before == kNone ? steps.start_ns : EndOf(steps.before);
    for (const Step& step : steps.steps) {
      // One without operations lasts as long as the host took.
      TimeNs end = step.last_op == kNone ? before + step.length_ns() : EndOf(step.last_op);
      end = std::max(end, before);
      lengths.push_back(end - before);
      before = end;
    }
    return lengths;
  }

 private:
  bool Without(IdleCause cause) const { return scenario_.without[static_cast<std::size_t>(cause)]; }
  bool KeepsTime(const HostSegment& segment) const {
    return segment.waits_for == kNone && !Without(segment.cause) &&
           segment.cause != IdleCause::kQueued;
  }

  // How the scenario changes host time outside of segments.
  struct Pace {
    TimeNs steps_start_ns = 0;  // what lies before the steps is none of its business
    TimeNs recorder_ns = 0;     // less after each call that launches something
    bool without_launching = false;
    const Intervals* gone = nullptr;
  };
  // Where the host stands. Loops work on a copy, and on one of its pace: what they store could be
  // any time, one of these too, which would be read again each time.
  struct Host {
    TimeNs recorded = std::numeric_limits<TimeNs>::min(), replayed = 0;
    bool started = false;
    TimeNs recorder_ns = 0;  // in the time that comes next
    std::size_t gone = 0;    // the first of Pace::gone that may lie in it

    // Of a time that comes next, what is there.
    TimeNs Kept(Interval time, const Pace& pace) {
      TimeNs kept = time.end - time.start;
      if (pace.gone == nullptr || time.start < pace.steps_start_ns) return kept;
      const Intervals& all = *pace.gone;
      while (gone < all.size() && all[gone].end <= time.start) ++gone;
      for (std::size_t i = gone; i < all.size() && all[i].start < time.end; ++i)
        kept -= std::min(all[i].end, time.end) - std::max(all[i].start, time.start);
      return kept;
    }
    // Time without segments.
    void MoveTo(TimeNs time, const Pace& pace) {
      if (time <= recorded) return;
      const bool in_steps = recorded >= pace.steps_start_ns;
      if (!started) {
        replayed = time;
        started = true;
      } else if (!pace.without_launching || !in_steps) {
        replayed +=
            std::max<TimeNs>(0, Kept({recorded, time}, pace) - (in_steps ? recorder_ns : 0));
      }
      recorder_ns = 0;
      recorded = time;
    }
  };

  // Of calls outside of segments.
  void LaunchUntil(TimeNs time) {
    Host host = host_;
    const Pace pace = pace_;
    const std::uint8_t* const launches = replay_.launches_.data();
    while (calls_ < api_.size() && api_.start[calls_] < time) {
      TimeNs* const launched = launched_.BlockOf(calls_);
      const std::size_t end =
          std::min(api_.size(), (calls_ / LaunchTimes::kBlock + 1) * LaunchTimes::kBlock);
      std::uint32_t call = calls_;
      for (; call < end; ++call) {
        const TimeNs called = api_.start[call];
        if (called >= time) break;
        host.MoveTo(called, pace);
        launched[call % LaunchTimes::kBlock] = host.replayed;
        if (launches[call] != 0) host.recorder_ns += pace.recorder_ns;
      }
      calls_ = call;
    }
    host_ = host;
  }

  void Play(const HostSegment& segment) {
    // A call that blocks launches at the very start of its own segment.
    LaunchUntil(segment.time.start + (segment.cause == IdleCause::kCheckpoint ? 0 : 1));
    host_.MoveTo(segment.time.start, pace_);
    const TimeNs arrived = host_.replayed;
    const bool kept = KeepsTime(segment);
    const bool left_out =
        segment.cause == IdleCause::kCheckpoint && Without(IdleCause::kCheckpoint);
    for (; calls_ < api_.size() && api_.start[calls_] < segment.time.end; ++calls_) {
      launched_.BlockOf(calls_)[calls_ % LaunchTimes::kBlock] =
          kept ? arrived + host_.Kept({segment.time.start, api_.start[calls_]}, pace_) : arrived;
      if (left_out) SetLeftOut(calls_);
    }
    Pass(segment);
  }

  // Before calls_, of all of whose operations have run.
  void GiveUpLaunchTimes() {
    for (; given_up_ < calls_ / LaunchTimes::kBlock; ++given_up_) {
      const std::uint32_t last = replay_.last_ops_[given_up_];
      if (last != kNone && last >= next_op_) return;
      launched_.GiveUp(given_up_);
    }
  }

  void Pass(const HostSegment& segment) {
    const TimeNs length = segment.time.end - segment.time.start;
    host_.recorded = segment.time.end;
    if (segment.time.end <= replay_.steps_.start_ns) {
      host_.replayed += length;
      return;
    }
    // A launch that waited for room in the queue. A graph is one launch.
    if (segment.cause == IdleCause::kQueued &&
        (segment.waits_for == kNone || pace_.without_launching))
      return;
    if (Without(segment.cause)) {
      if (segment.cause == IdleCause::kDataWait)
        host_.replayed += HandOver(length, replay_.hand_over_ns_);
      return;
    }
    // From pinned memory neither the copy nor a synchronization after it would have waited.
    if (scenario_.upload_rate > 0 && segment.waits_for != kNone && IsUpload(segment.waits_for)) {
      host_.replayed += std::min(length, kAsyncCopyCallNs);
      return;
    }
    if (segment.waits_for == kNone) {
      host_.replayed += host_.Kept(segment.time, pace_);
      return;
    }
    RunDevice<false>(segment.waits_for + 1);
    const TimeNs after = segment.time.end - ops_.end[segment.waits_for];
    host_.replayed = std::max(host_.replayed, EndOf(segment.waits_for) + after);
  }

  // Ops that other ops may wait for only by chance of the scenario: they fade out.
  bool Fades(std::uint32_t row, const PlayedOp& op) const {
    if (scenario_.without_communication && ops_.kernel_class[row] == KernelClass::kComm)
      return true;
    return LeftOut(op.launch) || (scenario_.upload_rate > 0 && IsUpload(row));
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

  // Where the device stands: the replayed end of what ran so far and start of the last one, and the
  // recorded end of what does not fade.
  struct Device {
    TimeNs ended = 0, began = 0, lasting = 0;
  };

  // What a scenario does to operations: few do anything.
  enum class Changes : std::uint8_t { kNothing, kFading, kLengths };
  static Changes ChangesOf(const Scenario& scenario) {
    if (scenario.lengths != nullptr) return Changes::kLengths;
    const bool fading = scenario.without_communication || scenario.upload_rate > 0 ||
                        scenario.without[static_cast<std::size_t>(IdleCause::kCheckpoint)];
    return fading ? Changes::kFading : Changes::kNothing;
  }

  // Runs the operations before row `until`; of `kKnown` those before the first one whose launch the
  // host has not come to.
  template <bool kKnown>
  void RunDevice(std::uint32_t until) {
    if (changes_ == Changes::kNothing) RunSome<kKnown, Changes::kNothing>(until);
    if (changes_ == Changes::kFading) RunSome<kKnown, Changes::kFading>(until);
    if (changes_ == Changes::kLengths) RunSome<kKnown, Changes::kLengths>(until);
  }
  template <bool kKnown, Changes kChanges>
  void RunSome(std::uint32_t until) {
    Device device = device_;
    const std::uint32_t calls = calls_;
    std::uint32_t row = next_op_;
    for (bool goes_on = true; goes_on && row < until;) {
      const std::span<const PlayedOp> ops = played_.From(row);
      const std::uint32_t end =
          row + static_cast<std::uint32_t>(std::min<std::size_t>(ops.size(), until - row));
      for (const PlayedOp* op = ops.data(); row < end; ++row, ++op) {
        goes_on = !kKnown || op->launch == kNone || op->launch < calls;
        if (!goes_on) break;
        const bool changed = kChanges == Changes::kLengths && row == next_changed_;
        const TimeNs length = changed ? TakeLength() : op->length;
        const bool fades =
            (changed && length == 0) || (kChanges != Changes::kNothing && Fades(row, *op));
        const TimeNs ended =
            fades ? Fade(row, *op, device) : Operate<kKnown, kChanges>(row, *op, length, device);
        if (row == next_watched_) Watch(ended);
      }
    }
    next_op_ = row;
    device_ = device;
  }
  void Watch(TimeNs ended) {
    ended_[watched_++] = ended;
    next_watched_ = WatchedRow();
  }
  std::uint32_t WatchedRow() const {
    return watched_ < ended_.size() ? replay_.watched_[watched_] : kNone;
  }

  // Of an operation whose launch is known. Calls by a thread that is no feeder may lie after the
  // host's present moment.
  TimeNs LaunchTime(const PlayedOp& op) const {
    return op.launch < calls_ ? launched_[op.launch] : host_.replayed;
  }

  std::uint32_t ChangedRow() const {
    return scenario_.lengths != nullptr && changed_ < scenario_.lengths->size()
               ? (*scenario_.lengths)[changed_].row
               : kNone;
  }
  TimeNs TakeLength() {
    const TimeNs length = (*scenario_.lengths)[changed_++].length_ns;
    next_changed_ = ChangedRow();
    return length;
  }

  // These two return when the operation has ended.
  template <bool kKnown, Changes kChanges>
  TimeNs Operate(std::uint32_t row, const PlayedOp& op, TimeNs length, Device& device) const {
    const bool switches = op.late || (pace_.without_launching && op.gap <= kLongestSwitchNs);
    TimeNs after = switches ? std::min(op.gap, switch_ns_) : op.gap;
    // What overlapped nothing but what fades begins after the rest has ended, as usual.
    if (kChanges != Changes::kNothing && op.gap <= 0)
      after = std::min(ops_.start[row] - device.lasting, switch_ns_);
    TimeNs begin = device.ended + after;
    if (op.launch_known)
      begin = std::max(begin, (kKnown ? launched_[op.launch] : LaunchTime(op)) + op.latency);
    if (kChanges == Changes::kLengths) begin = device.began = std::max(begin, device.began);
    const TimeNs ended = begin + length;
    device.ended = std::max(device.ended, ended);
    if (kChanges != Changes::kNothing) device.lasting = std::max(device.lasting, ops_.end[row]);
    return ended;
  }

  // Counts only as far as nothing else ran meanwhile.
  TimeNs Fade(std::uint32_t row, const PlayedOp& op, Device& device) const {
    if (scenario_.upload_rate > 0 && IsUpload(row) && op.length > 0) {
      const TimeNs exposed = std::clamp<TimeNs>(op.length + op.gap, 0, op.length);
      const double bytes = static_cast<double>(replay_.rank_.transfers[ops_.detail[row]].bytes);
      const double length = static_cast<double>(op.length);
      const double ideal = std::min(bytes / scenario_.upload_rate, length);
      if (op.launch_known)
        device.ended = std::max(device.ended, LaunchTime(op) + replay_.usual_latency_ns_);
      device.ended += static_cast<TimeNs>(ideal * static_cast<double>(exposed) / length);
    }
    return device.ended;
  }

  // Of a watched operation that has ended.
  TimeNs EndOf(std::uint32_t row) const {
    const auto at = std::lower_bound(replay_.watched_.begin(), replay_.watched_.end(), row);
    return ended_[static_cast<std::size_t>(at - replay_.watched_.begin())];
  }

  const Replay& replay_;
  const Scenario& scenario_;
  const ApiCalls& api_;
  const GpuOps& ops_;
  ReplayInput& played_;
  const TimeNs switch_ns_;
  const Pace pace_;
  const Changes changes_;
  LaunchTimes launched_;        // of the calls so far, replayed
  std::size_t given_up_ = 0;    // of its blocks
  std::size_t segment_ = 0;     // the next
  std::uint32_t calls_ = 0;     // so far
  std::vector<bool> left_out_;  // per call: part of what the scenario does without; empty: none
  std::vector<TimeNs> ended_;   // as Replay::watched_, replayed
  std::size_t watched_ = 0;     // of these, how many have ended
  std::uint32_t next_watched_;  // row of the next; kNone: there is none
  std::size_t changed_ = 0;     // of Scenario::lengths, how many have been used
  std::uint32_t next_changed_;  // row of the next; kNone: there is none
  std::uint32_t next_op_ = 0;
  Host host_;
  Device device_;
};

TimeNs HandOverOf(const Rank& rank, const GpuOps& ops, const Steps& steps) {
  const Interval time{steps.start_ns, steps.cuts().back()};
  const OpRange range = StartingIn(ops, time);
  double bytes = 0;
  for (std::size_t row = range.begin; row < range.end; ++row) {
    if (ops.kind[row] != OpKind::kMemcpy) continue;
    const Transfer& transfer = rank.transfers[ops.detail[row]];
    if (transfer.kind == kHostToDevice) bytes += static_cast<double>(transfer.bytes);
  }
  std::size_t waits = 0;
  for (const TimeNs start : rank.data_waits.start)
    waits += start >= time.start && start < time.end ? 1 : 0;
  if (waits == 0) waits = std::max<std::size_t>(1, steps.steps.size());
  const double of_batch = bytes / static_cast<double>(waits) / kHandOverBytesPerNs;
  return std::min(kHandOverNs, kLeastHandOverNs + static_cast<TimeNs>(of_batch));
}

Replay::Replay(const Rank& rank, const traceinject::Device& device, const HostTimeline& timeline,
               const GapCauses& causes, const Steps& steps)
    : rank_(rank),
      ops_(device.ops),
      steps_(steps),
      launches_(rank.api.size()),
      last_ops_(rank.api.size() / LaunchTimes::kBlock + 1, kNone),
      usual_latency_ns_(causes.usual_latency_ns),
      hand_over_ns_(HandOverOf(rank, device.ops, steps)),
      begin_(ops_.size() > 0 ? std::min(ops_.start.front(), steps.start_ns) : 0) {
  for (std::uint32_t row = 0; row < ops_.size(); ++row) {
    communicates_ |= ops_.kernel_class[row] == KernelClass::kComm;
    if (ops_.kind[row] == OpKind::kMemcpy) uploads_ |= IsPageableUpload(rank_, ops_, row);
    const std::uint32_t launch = ops_.launch[row];
    if (launch == kNone) continue;
    launches_[launch] = 1;
    last_ops_[launch / LaunchTimes::kBlock] = row;
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
         (scenario.upload_rate > 0 && uploads_) ||
         (scenario.lengths != nullptr && !scenario.lengths->empty()) ||
         (scenario.gone != nullptr && !scenario.gone->empty());
}

std::vector<std::vector<TimeNs>> Replay::RunAll(const std::vector<Scenario>& scenarios,
                                                StopFlag stop, const Residuals* residuals) const {
  ReplayInput played(rank_.api, ops_, begin_, usual_latency_ns_, residuals);
  std::deque<Player> players;
  for (const Scenario& scenario : scenarios) players.emplace_back(*this, scenario, played);
  const auto runs_later = [](const Player& a, const Player& b) {
    return a.next_op() < b.next_op();
  };
  const TimeColumn& calls = rank_.api.start;
  const std::size_t wanted = residuals == nullptr ? kNone : residuals->end();
  std::uint32_t ran = 0;
  for (std::size_t call = 0; call < calls.size() && ran < wanted && !IsStopped(stop);
       call += LaunchTimes::kBlock) {
    for (Player& player : players) player.PlayUntil(calls[call]);
    ran = std::min_element(players.begin(), players.end(), runs_later)->next_op();
    played.GiveUp(ran);
  }
  std::vector<std::vector<TimeNs>> lengths(scenarios.size());
  for (std::size_t i = 0; i < lengths.size() && !IsStopped(stop); ++i) {
    if (ran < wanted) players[i].Finish();
    lengths[i] = players[i].StepLengths();
  }
  return lengths;
}

std::vector<TimeNs> Replay::Run(const Scenario& scenario) const {
  return RunAll({scenario}).front();
}

}  // namespace traceinject
