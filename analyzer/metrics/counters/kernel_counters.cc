// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/counters/kernel_counters.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "analyzer/common/least_squares.h"

namespace traceinject {
namespace {

constexpr std::size_t kMostNames = 200;
// Fewer samples than this say little, whatever their scatter.
constexpr std::int64_t kLeastSamples = 5;

template <typename Shares>
std::optional<double> ShareOf(const Shares& shares, CounterId id) {
  const auto found =
      std::find_if(shares.begin(), shares.end(), [&](const auto& one) { return one.id == id; });
  if (found == shares.end()) return std::nullopt;
  return found->share;
}

double AsShare(std::int32_t permille) { return permille / 1000.0; }

// Mean and standard error of what comes in one by one (Welford).
class Running {
 public:
  void Add(double value) {
    ++count_;
    const double off = value - mean_;
    mean_ += off / static_cast<double>(count_);
    squares_ += off * (value - mean_);
  }
  double mean() const { return mean_; }
  double error() const {
    const auto n = static_cast<double>(count_);
    return count_ < 2 ? 1 : std::sqrt(squares_ / (n - 1) / n);
  }

 private:
  std::int64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

// Operations that overlap with one sample after the other.
class Overlaps {
 public:
  explicit Overlaps(const GpuOps& ops) : ops_(ops) {}

  // Calls visit(operation, its share of the sample's time). Samples come in order.
  template <typename Visit>
  void ForEach(Interval sample, Visit visit) {
    std::erase_if(active_, [&](std::uint32_t op) { return ops_.end[op] <= sample.start; });
    for (; next_ < ops_.size() && ops_.start[next_] < sample.end; ++next_) {
      // What takes no time shows nothing.
      if (ops_.end[next_] > std::max(ops_.start[next_], sample.start))
        active_.push_back(static_cast<std::uint32_t>(next_));
    }
    edges_.clear();
    for (const std::uint32_t op : active_) {
      edges_.push_back({std::max(ops_.start[op], sample.start), op, true});
      edges_.push_back({std::min(ops_.end[op], sample.end), op, false});
    }
    std::sort(edges_.begin(), edges_.end(),
              [](const Edge& a, const Edge& b) { return a.time < b.time; });
    const auto length = static_cast<double>(sample.end - sample.start);
    running_.clear();
    TimeNs now = sample.start;
    for (const Edge& edge : edges_) {
      if (edge.time > now && !running_.empty()) {
        const double share =
            static_cast<double>(edge.time - now) / length / static_cast<double>(running_.size());
        for (const std::uint32_t op : running_) visit(op, share);
      }
      now = edge.time;
      if (edge.begins)
        running_.push_back(edge.op);
      else
        std::erase(running_, edge.op);
    }
  }

  // The only one that overlaps with the last sample; kNone: there is none, or several.
  std::uint32_t only() const { return active_.size() == 1 ? active_.front() : kNone; }

 private:
  struct Edge {
    TimeNs time;
    std::uint32_t op;
    bool begins;
  };
  const GpuOps& ops_;
  std::size_t next_ = 0;
  std::vector<std::uint32_t> active_, running_;
  std::vector<Edge> edges_;
};

class Attribution {
 public:
  Attribution(const Rank& rank, const Device& device)
      : rank_(rank), ops_(device.ops), samples_(device.counters) {
    for (const CounterColumn& column : samples_.columns) {
      if (InfoOf(column.id).unit == kPermille) columns_.push_back(&column);
    }
    for (const CounterColumn* column : columns_) {
      if (AddsUp(column->id)) summed_.push_back(column);
    }
  }

  std::vector<KernelCounters> Find(const Intervals& times) {
    if (columns_.empty() || samples_.size() == 0) return {};
    ChooseNames(times);
    if (names_.empty()) return {};
    Walk(times);
    const LeastSquares::Solution solution = squares_->Solve();
    std::vector<KernelCounters> found;
    for (std::size_t name = 0; name < names_.size(); ++name) {
      KernelCounters one =
          names_[name].exact_samples >= kExactSamples ? Exact(name) : Fitted(name, solution);
      if (!one.values.empty()) found.push_back(std::move(one));
    }
    return found;
  }

 private:
  struct Name {
    std::uint32_t name = kNone;
    std::int64_t samples = 0, exact_samples = 0;
    std::vector<Running> exact;  // by column
  };

  // Those with most time in the times; all others, and copies, have the last place.
  void ChooseNames(const Intervals& times) {
    std::unordered_map<std::uint32_t, TimeNs> ns;
    for (std::size_t op = 0; op < ops_.size(); ++op) {
      if (ops_.kind[op] == OpKind::kKernel && Contains(times, ops_.start[op]))
        ns[rank_.shapes[ops_.detail[op]].name] += ops_.end[op] - ops_.start[op];
    }
    std::vector<std::pair<TimeNs, std::uint32_t>> order;
    for (const auto& [name, total] : ns) order.emplace_back(total, name);
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    if (order.size() > kMostNames) order.resize(kMostNames);
    for (const auto& [total, name] : order) {
      place_[name] = names_.size();
      names_.push_back({name, 0, 0, std::vector<Running>(columns_.size())});
    }
    squares_.emplace(names_.size() + 1, summed_.size());
  }

  std::size_t PlaceOf(std::uint32_t op) const {
    if (ops_.kind[op] != OpKind::kKernel) return names_.size();
    const auto found = place_.find(rank_.shapes[ops_.detail[op]].name);
    return found == place_.end() ? names_.size() : found->second;
  }

  void Walk(const Intervals& times) {
    Overlaps overlaps(ops_);
    std::vector<double> row(names_.size() + 1), values(summed_.size());
    std::vector<std::size_t> touched;
    auto window = times.begin();
    for (std::size_t sample = 0; sample < samples_.size(); ++sample) {
      const Interval time{samples_.start[sample], samples_.end[sample]};
      while (window != times.end() && window->end < time.end) ++window;
      if (window == times.end()) return;
      if (time.start < window->start || !IsKnown(sample)) continue;
      overlaps.ForEach(time, [&](std::uint32_t op, double share) {
        const std::size_t place = PlaceOf(op);
        if (row[place] == 0) touched.push_back(place);
        row[place] += share;
      });
      for (std::size_t i = 0; i < summed_.size(); ++i)
        values[i] = AsShare(summed_[i]->value[sample]);
      squares_->Add(row, touched, values);
      NoteExact(overlaps.only(), time, sample);
      for (const std::size_t place : touched) {
        if (place < names_.size()) ++names_[place].samples;
        row[place] = 0;
      }
      touched.clear();
    }
  }

  bool IsKnown(std::size_t sample) const {
    return std::all_of(summed_.begin(), summed_.end(),
                       [&](const CounterColumn* column) { return column->value[sample] >= 0; });
  }

  // Times of samples are as sure as their clock.
  void NoteExact(std::uint32_t op, Interval time, std::size_t sample) {
    if (op == kNone) return;
    const std::size_t place = PlaceOf(op);
    const TimeNs unsure = samples_.clock.uncertainty;
    if (place == names_.size() || ops_.start[op] > time.start - unsure ||
        ops_.end[op] < time.end + unsure)
      return;
    Name& name = names_[place];
    ++name.exact_samples;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i]->value[sample] >= 0) name.exact[i].Add(AsShare(columns_[i]->value[sample]));
    }
  }

  KernelCounters Exact(std::size_t place) const {
    const Name& name = names_[place];
    KernelCounters one{name.name, name.exact_samples, true, {}};
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const double error = name.exact[i].error();
      if (error <= kLargestError)
        one.values.push_back({columns_[i]->id, name.exact[i].mean(), error});
    }
    return one;
  }

  KernelCounters Fitted(std::size_t place, const LeastSquares::Solution& solution) const {
    const Name& name = names_[place];
    KernelCounters one{name.name, name.samples, false, {}};
    if (name.samples < kLeastSamples) return one;
    for (std::size_t i = 0; i < summed_.size(); ++i) {
      const double error = solution.error(place, i);
      if (error <= kLargestError)
        one.values.push_back(
            {summed_[i]->id, std::clamp(solution.value(place, i), 0.0, 1.0), error});
    }
    return one;
  }

  const Rank& rank_;
  const GpuOps& ops_;
  const CounterSamples& samples_;
  std::vector<const CounterColumn*> columns_, summed_;
  std::vector<Name> names_;
  std::unordered_map<std::uint32_t, std::size_t> place_;  // of a name
  std::optional<LeastSquares> squares_;
};

}  // namespace

std::optional<double> KernelCounters::share(CounterId id) const { return ShareOf(values, id); }

std::string_view KernelCounters::limiter() const {
  struct Unit {
    CounterId id;
    std::string_view name;
  };
  constexpr Unit kUnits[] = {{CounterId::kTensorActive, "tensor"},
                             {CounterId::kTensorHmma, "tensor"},
                             {CounterId::kDram, "memory"},
                             {CounterId::kFp32, "fp32"},
                             {CounterId::kFp64, "fp64"}};
  double most = 0;
  std::string_view limiter;
  for (const Unit& unit : kUnits) {
    const double used = share(unit.id).value_or(0);
    if (used > most) {
      most = used;
      limiter = unit.name;
    }
  }
  if (most >= kLimiting) return limiter;
  const auto active = share(CounterId::kSmActive);
  if (!active || limiter.empty()) return {};
  return *active < kLimiting ? "launch" : "latency";
}

std::vector<KernelCounters> AttributeCounters(const Rank& rank, const Device& device,
                                              const Intervals& times) {
  return Attribution(rank, device).Find(times);
}

std::optional<double> DeviceCounters::mean(CounterId id) const { return ShareOf(means, id); }

DeviceCounters MeanCounters(const Device& device, const Intervals& times) {
  const CounterSamples& samples = device.counters;
  DeviceCounters found;
  std::vector<double> sums(samples.columns.size());
  std::vector<TimeNs> known_ns(samples.columns.size());
  auto window = times.begin();
  for (std::size_t sample = 0; sample < samples.size(); ++sample) {
    while (window != times.end() && window->end <= samples.start[sample]) ++window;
    for (auto at = window; at != times.end() && at->start < samples.end[sample]; ++at) {
      const TimeNs inside =
          std::min(at->end, samples.end[sample]) - std::max(at->start, samples.start[sample]);
      if (inside <= 0) continue;
      found.covered_ns += inside;
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::int32_t value = samples.columns[i].value[sample];
        if (value < 0) continue;
        known_ns[i] += inside;
        sums[i] += static_cast<double>(inside) * AsShare(value);
      }
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (known_ns[i] > 0 && InfoOf(samples.columns[i].id).unit == kPermille)
      found.means.push_back({samples.columns[i].id, sums[i] / static_cast<double>(known_ns[i]), 0});
  }
  return found;
}

}  // namespace traceinject
