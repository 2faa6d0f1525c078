// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/align_counters.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/import/finish/load_fit.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/sort_columns.h"

namespace traceinject {
namespace {

// A gap in which the device idles is one if it lasts for so many samples.
constexpr TimeNs kIdleSamples = 3;
// Of sm_active, in permille: less is not work.
constexpr std::int32_t kLeastActive = 2;
// Where the first rows were dropped, sampling may have begun any time before; but no later than so
// long before the samples are read.
constexpr TimeNs kLongestDelayNs = 200'000'000;
// Edges that are judged together: short enough for a drift not to matter.
constexpr std::size_t kBlockEdges = 32;
constexpr TimeNs kMostSteps = 1000;
// With fewer nothing is sure; and so many of them have to have their counterpart.
constexpr std::size_t kLeastEdges = 4;
constexpr double kLeastMatched = 0.6;
// A drift shows only over a time.
constexpr std::size_t kLeastBlocks = 3;
constexpr TimeNs kLeastSpanNs = 4'000'000'000;
// What two clocks of one machine are good for at best, and at worst.
constexpr TimeNs kLeastUncertaintyNs = 1'000;
constexpr double kMostDrift = 2e-4;
// NVML is asked by the host, which may be late.
constexpr TimeNs kHostUncertaintyNs = 1'000'000;

// A moment at which the device begins or ends to be active.
struct Edge {
  TimeNs time = 0;
  bool begins = false;
};

template <typename Number>
Number Median(std::vector<Number> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

// Edges that follow each other, and their counterparts.
struct Block {
  TimeNs gpu_time = 0;          // in its middle
  std::vector<TimeNs> offsets;  // of each edge: time of the kernel less that of the GPU's clock
};

// The samples of one device, in rows by time.
class Aligner {
 public:
  Aligner(const Rank& rank, Device& device)
      : rank_(rank),
        device_(device),
        samples_(device.counters),
        ops_(device.ops),
        period_(device.counters.period_ns) {}

  void Align() {
    FindGpuTimes();
    FindBounds();
    if (!AlignByLoad() && !AlignByEdges(KernelEdges(), SampleEdges())) AlignByBounds();
  }

 private:
  void FindGpuTimes() {
    gpu_time_.resize(samples_.size());
    for (const CounterRun& run : samples_.runs)
      recorded_.push_back(samples_.start[run.first] - run.gpu_time);
    for (std::size_t run = 0; run < samples_.runs.size(); ++run) {
      const std::size_t first = samples_.runs[run].first;
      const std::size_t end =
          run + 1 < samples_.runs.size() ? samples_.runs[run + 1].first : samples_.size();
      for (std::size_t row = first; row < end; ++row)
        gpu_time_[row] = samples_.runs[run].gpu_time + samples_.start[row] - samples_.start[first];
    }
  }

  // Of what is added to the times as they are recorded.
  void FindBounds() {
    std::optional<TimeNs> least, most;
    for (const CounterRun& run : samples_.runs) {
      if (run.lead) least = std::max(least.value_or(-*run.lead), -*run.lead);
      most = std::min(most.value_or(run.lag), run.lag);
    }
    most_ = most.value_or(0);
    least_ = std::min(least.value_or(most_ - kLongestDelayNs), most_);
    least_ = std::max(least_, most_ - kLongestDelayNs);
  }

  // The same of the offset between the clocks near one sample: both may drift in a long recording.
  Interval OffsetBoundsAt(std::size_t row) const {
    std::optional<TimeNs> least, most;
    for (std::size_t i = 0; i < samples_.runs.size(); ++i) {
      const CounterRun& run = samples_.runs[i];
      const TimeNs offset = recorded_[i];
      const TimeNs apart = std::abs(run.gpu_time - gpu_time_[row]);
      const auto drifted = static_cast<TimeNs>(kMostDrift * static_cast<double>(apart));
      if (run.lead) least = std::max(least.value_or(INT64_MIN), offset - *run.lead - drifted);
      most = std::min(most.value_or(INT64_MAX), offset + run.lag + drifted);
    }
    const TimeNs end = most.value_or(0);
    return {std::clamp(least.value_or(end - kLongestDelayNs), end - kLongestDelayNs, end), end};
  }

  // Of kernels around gaps in which nothing else may have used an SM either. Merged.
  std::vector<Edge> KernelEdges() const {
    Intervals busy;
    for (std::size_t row = 0; row < ops_.size(); ++row) {
      if (ops_.kind[row] == OpKind::kMemcpy || ops_.end[row] == kOpen) continue;
      if (!busy.empty() && ops_.start[row] <= busy.back().end + kIdleSamples * period_)
        busy.back().end = std::max(busy.back().end, ops_.end[row]);
      else
        busy.push_back({ops_.start[row], ops_.end[row]});
    }
    std::vector<Edge> edges;
    for (const Interval& one : busy) {
      edges.push_back({one.start, true});
      edges.push_back({one.end, false});
    }
    return edges;
  }

  bool IsActive(std::size_t row) const { return active_->value[row] >= kLeastActive; }
  // Nothing is missing between the two.
  bool Follows(std::size_t row) const {
    return samples_.start[row] - samples_.end[row - 1] <= period_ / 2;
  }

  // By the GPU's clock; of samples beside so many that are idle, and some that are active.
  std::vector<Edge> SampleEdges() {
    active_ = samples_.Find(CounterId::kSmActive);
    std::vector<Edge> edges;
    if (active_ == nullptr) return edges;
    TimeNs idle = 0;  // rows before this one
    for (std::size_t row = 0; row < samples_.size(); ++row) {
      if (row > 0 && !Follows(row)) idle = 0;
      const bool was_active = row > 0 && Follows(row) && IsActive(row - 1);
      if (!IsActive(row)) {
        if (was_active) ended_ = row - 1;
        if (++idle == kIdleSamples && ended_) edges.push_back({EndOfActivity(*ended_), false});
        continue;
      }
      if (idle >= kIdleSamples) edges.push_back({StartOfActivity(row), true});
      idle = 0;
      ended_.reset();
    }
    std::sort(edges.begin(), edges.end(),
              [](const Edge& a, const Edge& b) { return a.time < b.time; });
    return edges;
  }

  TimeNs LengthOf(std::size_t row) const { return samples_.end[row] - samples_.start[row]; }
  // The part of a sample that is active, if what goes on beside it goes on in it, too.
  double PartOf(std::size_t row, std::size_t beside) const {
    const double full = active_->value[beside], own = active_->value[row];
    return full >= kLeastActive && own <= full ? own / full : 0.5;
  }
  TimeNs StartOfActivity(std::size_t row) const {
    const bool goes_on = row + 1 < samples_.size() && Follows(row + 1);
    const double part = goes_on ? PartOf(row, row + 1) : 0.5;
    return gpu_time_[row] +
           static_cast<TimeNs>(std::llround((1 - part) * static_cast<double>(LengthOf(row))));
  }
  TimeNs EndOfActivity(std::size_t row) const {
    const double part = row > 0 && Follows(row) ? PartOf(row, row - 1) : 0.5;
    return gpu_time_[row] +
           static_cast<TimeNs>(std::llround(part * static_cast<double>(LengthOf(row))));
  }

  // As recorded, of a time of the GPU's clock.
  TimeNs Recorded(TimeNs gpu_time) const {
    auto row = std::upper_bound(gpu_time_.begin(), gpu_time_.end(), gpu_time) - gpu_time_.begin();
    row = std::max<std::ptrdiff_t>(row, 1) - 1;
    const auto at = static_cast<std::size_t>(row);
    return samples_.start[at] + gpu_time - gpu_time_[at];
  }

  // The kernels' edge of the same kind that is next to `time`; nothing: it is too far off.
  static std::optional<TimeNs> Nearest(const std::vector<Edge>& kernels, const Edge& edge,
                                       TimeNs farthest) {
    auto at = std::lower_bound(kernels.begin(), kernels.end(), edge.time - farthest,
                               [](const Edge& one, TimeNs time) { return one.time < time; });
    std::optional<TimeNs> nearest;
    for (; at != kernels.end() && at->time <= edge.time + farthest; ++at) {
      if (at->begins == edge.begins &&
          (!nearest || std::abs(at->time - edge.time) < std::abs(*nearest - edge.time)))
        nearest = at->time;
    }
    return nearest;
  }

  // Between shifts that are tried, of which there are some hundreds.
  TimeNs Step() const { return std::max({period_ / 2, (most_ - least_) / kMostSteps, TimeNs{1}}); }

  // What has to be added to recorded times for most edges of [first, last) to have a counterpart:
  // the middle of the best, whose number is *matched.
  TimeNs BestShift(const std::vector<Edge>& kernels, const std::vector<Edge>& active,
                   std::size_t first, std::size_t last, std::size_t* matched) const {
    TimeNs from = 0, to = 0;
    *matched = 0;
    const TimeNs step = Step();
    for (TimeNs shift = least_ - period_; shift <= most_ + period_; shift += step) {
      std::size_t count = 0;
      for (std::size_t i = first; i < last; ++i) {
        const Edge edge{Recorded(active[i].time) + shift, active[i].begins};
        count += Nearest(kernels, edge, step).has_value() ? 1 : 0;
      }
      if (count > *matched) from = shift, *matched = count;
      if (count == *matched) to = shift;
    }
    // Two that are far apart are as good as none.
    return to - from <= 4 * period_ ? (from + to) / 2 : from;
  }

  std::vector<Block> MatchBlocks(const std::vector<Edge>& kernels,
                                 const std::vector<Edge>& active) const {
    std::vector<Block> blocks;
    for (std::size_t first = 0; first < active.size(); first += kBlockEdges) {
      const std::size_t last = std::min(first + kBlockEdges, active.size());
      std::size_t matched = 0;
      const TimeNs shift = BestShift(kernels, active, first, last, &matched);
      const double share = static_cast<double>(matched) / static_cast<double>(last - first);
      if (matched < kLeastEdges || share < kLeastMatched) continue;
      Block block;
      std::vector<TimeNs> times;
      for (std::size_t i = first; i < last; ++i) {
        const Edge edge{Recorded(active[i].time) + shift, active[i].begins};
        if (const auto kernel = Nearest(kernels, edge, std::max(period_, Step()))) {
          block.offsets.push_back(*kernel - active[i].time);
          times.push_back(active[i].time);
        }
      }
      block.gpu_time = Median(times);
      blocks.push_back(std::move(block));
    }
    return blocks;
  }

  // By how much the offset grows per ns.
  static double DriftOf(const std::vector<Block>& blocks) {
    if (blocks.size() < kLeastBlocks ||
        blocks.back().gpu_time - blocks.front().gpu_time < kLeastSpanNs)
      return 0;
    // Of long recordings some hundred blocks are enough.
    const std::size_t stride = blocks.size() / 200 + 1;
    std::vector<double> slopes;
    for (std::size_t i = 0; i < blocks.size(); i += stride) {
      for (std::size_t j = i + stride; j < blocks.size(); j += stride) {
        const TimeNs apart = blocks[j].gpu_time - blocks[i].gpu_time;
        if (apart > 0)
          slopes.push_back(
              static_cast<double>(Median(blocks[j].offsets) - Median(blocks[i].offsets)) /
              static_cast<double>(apart));
      }
    }
    return slopes.empty() ? 0 : std::clamp(Median(slopes), -kMostDrift, kMostDrift);
  }

  bool AlignByEdges(const std::vector<Edge>& kernels, const std::vector<Edge>& active) {
    if (kernels.empty() || active.size() < kLeastEdges) return false;
    const std::vector<Block> blocks = MatchBlocks(kernels, active);
    if (blocks.empty()) return false;
    MoveBy(blocks);
    for (const Block& block : blocks)
      samples_.clock.edges += static_cast<std::uint32_t>(block.offsets.size());
    return true;
  }

  bool AlignByLoad() {
    const auto bounds = [&](std::size_t row) { return OffsetBoundsAt(row); };
    std::vector<Block> blocks;
    for (const ClockOffset& one : FitLoad(rank_, device_, gpu_time_, bounds))
      blocks.push_back({one.gpu_time, {one.offset}});
    if (blocks.empty()) return false;
    MoveBy(blocks);
    // Of a single block the scatter is not known.
    if (blocks.size() < kLeastEdges)
      samples_.clock.uncertainty = std::max(samples_.clock.uncertainty, period_ / 20);
    return true;
  }

  // By the median of the offsets, and their drift.
  void MoveBy(const std::vector<Block>& blocks) {
    const double drift = DriftOf(blocks);
    const TimeNs origin = blocks[blocks.size() / 2].gpu_time;
    const auto drifted = [&](TimeNs gpu_time) {
      return static_cast<TimeNs>(std::llround(drift * static_cast<double>(gpu_time - origin)));
    };
    std::vector<TimeNs> offsets;
    for (const Block& block : blocks) {
      for (const TimeNs offset : block.offsets) offsets.push_back(offset - drifted(block.gpu_time));
    }
    const TimeNs offset = Median(offsets);
    std::vector<TimeNs> off;
    for (const TimeNs one : offsets) off.push_back(std::abs(one - offset));
    // The standard error of a median, of what is scattered as the middle half of it is.
    const double scatter = 1.4826 * static_cast<double>(Median(off));
    const double error = 1.2533 * scatter / std::sqrt(static_cast<double>(offsets.size()));
    MoveTimes([&](std::size_t row) { return gpu_time_[row] + offset + drifted(gpu_time_[row]); });
    samples_.clock.drift = drift;
    samples_.clock.uncertainty =
        std::max(kLeastUncertaintyNs, static_cast<TimeNs>(std::llround(error)));
  }

  void AlignByBounds() {
    const TimeNs middle = least_ + (most_ - least_) / 2;
    MoveTimes([&](std::size_t row) { return samples_.start[row] + middle; });
    samples_.clock.uncertainty = std::max(kLeastUncertaintyNs, (most_ - least_) / 2);
  }

  template <typename StartOf>
  void MoveTimes(StartOf start_of) {
    const std::size_t middle = samples_.size() / 2;
    samples_.clock.shift = start_of(middle) - samples_.start[middle];
    TimeColumn start, end;
    for (std::size_t row = 0; row < samples_.size(); ++row) {
      start.push_back(start_of(row));
      end.push_back(start.back() + LengthOf(row));
    }
    samples_.start = std::move(start);
    samples_.end = std::move(end);
  }

  const Rank& rank_;
  const Device& device_;
  CounterSamples& samples_;
  const GpuOps& ops_;
  const TimeNs period_;
  TimeNs least_ = 0, most_ = 0;
  std::vector<TimeNs> gpu_time_;
  std::vector<TimeNs> recorded_;  // offset between the clocks, of each run, as it was recorded
  const CounterColumn* active_ = nullptr;
  std::optional<std::size_t> ended_;  // row of the last active sample before those that idle
};

// Of its first sample the hardware may tell the time since long before sampling was begun.
constexpr TimeNs kMostPeriods = 8;

// Samples of no time that could be theirs: left out, with what was known of where they began.
void DropEndless(CounterSamples& samples) {
  RowOrder kept;
  std::vector<CounterRun> runs;
  std::optional<TimeNs> lead;
  for (std::size_t run = 0; run < samples.runs.size(); ++run) {
    const std::size_t end =
        run + 1 < samples.runs.size() ? samples.runs[run + 1].first : samples.size();
    CounterRun moved = samples.runs[run];
    if (moved.lead) lead = moved.lead;
    const std::size_t first = moved.first, before = kept.size();
    for (std::size_t row = first; row < end; ++row) {
      const TimeNs next = row + 1 < end ? samples.start[row + 1] : samples.end[row];
      // Only the first may have no beginning: others can be of a set with a longer period.
      const bool is_first = row == first && moved.lead.has_value();
      if (!is_first || samples.end[row] - samples.start[row] <= kMostPeriods * samples.period_ns) {
        kept.Append({static_cast<std::uint32_t>(row), 1});
      } else if (kept.size() == before) {
        if (lead) *lead += next - samples.start[row];
        moved.gpu_time += next - samples.start[row];
      }
    }
    if (kept.size() == before) continue;
    moved.first = static_cast<std::uint32_t>(before);
    moved.lead = std::exchange(lead, std::nullopt);
    runs.push_back(moved);
  }
  if (kept.size() == samples.size()) return;
  for (CounterColumn& column : samples.columns) ApplyOrder(kept, column.value);
  ApplyOrder(kept, samples.start, samples.end);
  samples.runs = std::move(runs);
}

// Ascending: readers search in them.
void SortSamples(CounterSamples& samples) {
  const RowOrder order = SortedOrder(samples.start, samples.end);
  for (CounterColumn& column : samples.columns) ApplyOrder(order, column.value);
  ApplyOrder(order, samples.start, samples.end);
}

// Where sampling was begun, once more or for the first time; ascending.
std::vector<TimeNs> Beginnings(const CounterSamples& samples) {
  std::vector<TimeNs> times;
  for (const CounterRun& run : samples.runs) {
    if (run.lead) times.push_back(samples.start[run.first]);
  }
  std::sort(times.begin(), times.end());
  return times;
}

void FindGaps(const Rank& rank, const std::vector<TimeNs>& beginnings, CounterSamples& samples) {
  Intervals missing, planned;
  for (std::size_t row = 1; row < samples.size(); ++row) {
    const Interval between{samples.end[row - 1], samples.start[row]};
    // Sampling rested before it was begun again.
    if (between.end - between.start > samples.period_ns / 2 &&
        !std::binary_search(beginnings.begin(), beginnings.end(), between.end))
      missing.push_back(between);
  }
  for (const CaptureGap& gap : rank.gaps) {
    if (gap.planned()) planned.push_back({gap.start, gap.end == kOpen ? rank.end : gap.end});
  }
  const Intervals outside = Merge(std::move(planned));
  // What begins or ends with a window is not missing in it: sampling is started and stopped then.
  for (const Interval& one : Merge(std::move(missing))) {
    if (Intersect({one}, outside).empty()) samples.gaps.push_back(one);
  }
}

}  // namespace

void AlignCounters(Rank& rank) {
  for (Device& device : rank.devices) {
    CounterSamples& samples = device.counters;
    if (samples.size() == 0) continue;
    // Only where each sample has a time of the GPU's clock.
    if (!samples.runs.empty() && samples.runs.front().first == 0) {
      DropEndless(samples);
      if (samples.size() == 0) continue;
      Aligner(rank, device).Align();
    } else {
      samples.runs.clear();
      samples.clock.uncertainty = kHostUncertaintyNs;
    }
    const std::vector<TimeNs> beginnings = Beginnings(samples);
    samples.runs.clear();
    SortSamples(samples);
    FindGaps(rank, beginnings, samples);
  }
}

}  // namespace traceinject
