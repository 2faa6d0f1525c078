// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/counters/kernel_counters.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <unordered_map>
#include <utility>

#include "analyzer/common/least_squares.h"

namespace traceinject {
namespace {

// Kernels are looked at by name, those with most time; a name's launches of one shape by
// themselves, where they take so much of the time.
constexpr std::size_t kMostNames = 200;
constexpr double kLeastOfTime = 0.003;
// Fewer samples than this say little, whatever their scatter.
constexpr std::int64_t kLeastSamples = 5;
// Of a name's time, what may be without a figure.
constexpr double kMostUnknown = 0.1;

std::optional<CounterShare> Find(const std::vector<CounterShare>& shares, CounterId id) {
  const auto found = std::find_if(shares.begin(), shares.end(),
                                  [&](const CounterShare& one) { return one.id == id; });
  if (found == shares.end()) return std::nullopt;
  return *found;
}

std::optional<double> ShareOf(const std::vector<CounterShare>& shares, CounterId id) {
  const std::optional<CounterShare> found = Find(shares, id);
  if (!found) return std::nullopt;
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

// What tensor cores do in a sample, at the clock of the published rate; empty: not known.
class TensorAtRated {
 public:
  TensorAtRated(const CounterSamples& samples, std::optional<double> rated_mhz)
      : tensor_(samples.Find(CounterId::kTensorActive)),
        clock_(samples.Find(CounterId::kSmClock)),
        rated_mhz_(rated_mhz.value_or(0)) {
    if (tensor_ == nullptr) tensor_ = samples.Find(CounterId::kTensorHmma);
  }
  bool is_known() const { return tensor_ != nullptr && clock_ != nullptr && rated_mhz_ > 0; }
  // -1: unknown.
  double operator[](std::size_t sample) const {
    const std::int32_t tensor = tensor_->value[sample], mhz = clock_->value[sample];
    return tensor < 0 || mhz < 0 ? -1 : AsShare(tensor) * mhz / rated_mhz_;
  }

 private:
  const CounterColumn *tensor_, *clock_;
  double rated_mhz_;
};

class Attribution {
 public:
  Attribution(const Rank& rank, const Device& device, std::optional<double> rated_mhz)
      : rank_(rank),
        ops_(device.ops),
        samples_(device.counters),
        at_rated_(device.counters, rated_mhz) {
    for (const CounterColumn& column : samples_.columns) {
      if (InfoOf(column.id).unit == kPermille) columns_.push_back(&column);
    }
    for (const CounterColumn* column : columns_) {
      if (AddsUp(column->id)) summed_.push_back(column);
    }
    sides_ = summed_.size() + (at_rated_.is_known() ? 1 : 0);
  }

  std::vector<KernelCounters> Find(const Intervals& times) {
    if (columns_.empty() || samples_.size() == 0) return {};
    ChooseKernels(times);
    if (names_.empty()) return {};
    Walk(times);
    const LeastSquares::Solution solution = squares_->Solve();
    std::vector<KernelCounters> found;
    for (const Name& name : names_) {
      KernelCounters one = CountersOf(name, solution);
      if (!one.values.empty()) found.push_back(std::move(one));
    }
    return found;
  }

 private:
  // Launches that are alike.
  struct Kernel {
    TimeNs ns = 0;
    std::int64_t samples = 0, exact_samples = 0;
    std::vector<Running> exact;  // by column, then that at the rated clock
    bool is_exact() const { return exact_samples >= kExactSamples; }
  };
  struct Name {
    std::uint32_t name = kNone, shape = kNone;
    TimeNs ns = 0;
    std::vector<std::size_t> kernels;
  };

  // All other kernels, and copies, have the place behind the last.
  void ChooseKernels(const Intervals& times) {
    std::vector<TimeNs> of_shape(rank_.shapes.size());
    std::unordered_map<std::uint32_t, TimeNs> of_name;
    TimeNs all = 0;
    for (std::size_t op = 0; op < ops_.size(); ++op) {
      if (ops_.kind[op] != OpKind::kKernel || !Contains(times, ops_.start[op])) continue;
      const TimeNs ns = ops_.end[op] - ops_.start[op];
      of_shape[ops_.detail[op]] += ns;
      of_name[rank_.shapes[ops_.detail[op]].name] += ns;
      all += ns;
    }
    std::vector<std::pair<TimeNs, std::uint32_t>> order;
    for (const auto& [name, total] : of_name) order.emplace_back(-total, name);
    std::sort(order.begin(), order.end());
    order.resize(std::min(order.size(), kMostNames));
    std::unordered_map<std::uint32_t, std::size_t> rest;  // of a name: its launches of other shapes
    for (const auto& [total, name] : order) {
      rest[name] = SIZE_MAX;
      name_at_[name] = names_.size();
      names_.push_back({name, kNone, -total, {}});
    }
    place_.assign(rank_.shapes.size(), SIZE_MAX);
    for (std::size_t shape = 0; shape < of_shape.size(); ++shape) {
      const auto at = rest.find(rank_.shapes[shape].name);
      if (of_shape[shape] == 0 || at == rest.end()) continue;
      const bool by_itself =
          static_cast<double>(of_shape[shape]) >= kLeastOfTime * static_cast<double>(all);
      std::size_t place = by_itself ? SIZE_MAX : at->second;
      if (place == SIZE_MAX) {
        place = AddKernel(static_cast<std::uint32_t>(shape));
        if (!by_itself) at->second = place;
      }
      place_[shape] = place;
      kernels_[place].ns += of_shape[shape];
    }
    for (std::size_t& place : place_) place = std::min(place, kernels_.size());
    squares_.emplace(kernels_.size() + 1, sides_);
  }

  std::size_t AddKernel(std::uint32_t shape) {
    Name& name = names_[name_at_.at(rank_.shapes[shape].name)];
    name.shape = shape;
    name.kernels.push_back(kernels_.size());
    kernels_.push_back({0, 0, 0, std::vector<Running>(columns_.size() + 1)});
    return kernels_.size() - 1;
  }

  std::size_t PlaceOf(std::uint32_t op) const {
    return ops_.kind[op] == OpKind::kKernel ? place_[ops_.detail[op]] : kernels_.size();
  }

  void Walk(const Intervals& times) {
    Overlaps overlaps(ops_);
    std::vector<double> row(kernels_.size() + 1), values(sides_);
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
      if (at_rated_.is_known()) values.back() = at_rated_[sample];
      squares_->Add(row, touched, values);
      NoteExact(overlaps.only(), time, sample);
      for (const std::size_t place : touched) {
        if (place < kernels_.size()) ++kernels_[place].samples;
        row[place] = 0;
      }
      touched.clear();
    }
  }

  bool IsKnown(std::size_t sample) const {
    return std::all_of(summed_.begin(), summed_.end(),
                       [&](const CounterColumn* column) { return column->value[sample] >= 0; }) &&
           (!at_rated_.is_known() || at_rated_[sample] >= 0);
  }

  // Times of samples are as sure as their clock.
  void NoteExact(std::uint32_t op, Interval time, std::size_t sample) {
    if (op == kNone) return;
    const std::size_t place = PlaceOf(op);
    const TimeNs unsure = samples_.clock.uncertainty;
    if (place == kernels_.size() || ops_.start[op] > time.start - unsure ||
        ops_.end[op] < time.end + unsure)
      return;
    Kernel& kernel = kernels_[place];
    ++kernel.exact_samples;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i]->value[sample] >= 0) kernel.exact[i].Add(AsShare(columns_[i]->value[sample]));
    }
    if (at_rated_.is_known()) kernel.exact.back().Add(at_rated_[sample]);
  }

  // Which kernels of a name have a figure, and how much of its time each is. Empty: too few.
  std::vector<std::pair<std::size_t, double>> WeightsOf(const Name& name) const {
    std::vector<std::pair<std::size_t, double>> weights;
    TimeNs known = 0;
    for (const std::size_t place : name.kernels) {
      const Kernel& kernel = kernels_[place];
      if (!kernel.is_exact() && kernel.samples < kLeastSamples) continue;
      known += kernel.ns;
      weights.emplace_back(place, static_cast<double>(kernel.ns));
    }
    if (static_cast<double>(known) < (1 - kMostUnknown) * static_cast<double>(name.ns)) return {};
    for (auto& [place, weight] : weights) weight /= static_cast<double>(known);
    return weights;
  }

  KernelCounters CountersOf(const Name& name, const LeastSquares::Solution& solution) const {
    const auto weights = WeightsOf(name);
    KernelCounters one{name.name, name.shape, 0, !weights.empty(), name.ns, {}, {}};
    for (const auto& [place, weight] : weights) one.exact &= kernels_[place].is_exact();
    for (const auto& [place, weight] : weights)
      one.samples += one.exact ? kernels_[place].exact_samples : kernels_[place].samples;
    std::size_t side = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool adds_up = AddsUp(columns_[i]->id);
      if (adds_up || one.exact) {
        if (const auto share = Mean(weights, solution, columns_[i]->id, i, side))
          one.values.push_back(*share);
      }
      if (adds_up) ++side;
    }
    if (at_rated_.is_known())
      one.tensor_at_rated =
          Mean(weights, solution, CounterId::kTensorActive, columns_.size(), side);
    return one;
  }

  // Empty: it is not known well enough.
  std::optional<CounterShare> Mean(const std::vector<std::pair<std::size_t, double>>& weights,
                                   const LeastSquares::Solution& solution, CounterId id,
                                   std::size_t column, std::size_t side) const {
    if (weights.empty()) return std::nullopt;
    std::vector<double> fitted(kernels_.size() + 1);
    bool has_fitted = false;
    double mean = 0, squares = 0;
    for (const auto& [place, weight] : weights) {
      if (kernels_[place].is_exact()) {
        const Running& exact = kernels_[place].exact[column];
        mean += weight * exact.mean();
        squares += weight * weight * exact.error() * exact.error();
      } else {
        mean += weight * solution.value(place, side);
        fitted[place] = weight;
        has_fitted = true;
      }
    }
    double error = std::sqrt(squares);
    if (has_fitted) error = std::hypot(error, solution.error(fitted, side));
    if (!(error <= kLargestError)) return std::nullopt;
    return CounterShare{id, std::clamp(mean, 0.0, 1.0), error};
  }

  const Rank& rank_;
  const GpuOps& ops_;
  const CounterSamples& samples_;
  const TensorAtRated at_rated_;
  std::vector<const CounterColumn*> columns_, summed_;
  std::size_t sides_ = 0;
  std::vector<Name> names_;
  std::unordered_map<std::uint32_t, std::size_t> name_at_;
  std::vector<Kernel> kernels_;
  std::vector<std::size_t> place_;  // of a shape: row of kernels_, or their number
  std::optional<LeastSquares> squares_;
};

struct Sum {
  TimeNs ns = 0;
  double of_ns = 0;
  void Add(TimeNs inside, double share) {
    if (share < 0) return;
    ns += inside;
    of_ns += static_cast<double>(inside) * share;
  }
  double mean() const { return of_ns / static_cast<double>(ns); }
};

// Of all; how far the time without samples may be from it shows by how far stretches are from each
// other. Empty: there are no samples.
std::optional<CounterShare> MeanOfStretches(const std::vector<Sum>& stretches, TimeNs times_ns) {
  Sum all;
  for (const Sum& one : stretches) all.ns += one.ns, all.of_ns += one.of_ns;
  if (all.ns == 0) return std::nullopt;
  double squares = 0, count = 0;
  for (const Sum& one : stretches) {
    if (one.ns == 0) continue;
    const double off = one.of_ns - all.mean() * static_cast<double>(one.ns);
    squares += off * off;
    ++count;
  }
  const double unseen =
      times_ns > all.ns ? 1 - static_cast<double>(all.ns) / static_cast<double>(times_ns) : 0;
  const double scatter = count > 1 ? std::sqrt(squares * count / (count - 1)) : 0;
  return CounterShare{CounterId::kTensorActive, all.mean(),
                      std::sqrt(unseen) * scatter / static_cast<double>(all.ns)};
}

}  // namespace

std::optional<double> KernelCounters::share(CounterId id) const { return ShareOf(values, id); }

std::optional<CounterShare> KernelCounters::value(CounterId id) const { return Find(values, id); }

std::optional<CounterShare> KernelCounters::memory() const {
  if (const auto both = value(CounterId::kDram)) return both;
  const auto read = value(CounterId::kDramRead), written = value(CounterId::kDramWrite);
  if (!read || !written) return std::nullopt;
  return CounterShare{CounterId::kDram, read->share + written->share,
                      std::hypot(read->error, written->error)};
}

std::optional<CounterShare> KernelCounters::tensor() const {
  if (const auto all = value(CounterId::kTensorActive)) return all;
  return value(CounterId::kTensorHmma);
}

std::optional<double> KernelCounters::tensor_clock_mhz(double rated_mhz) const {
  constexpr double kHardly = 0.1;
  const auto busy = value(CounterId::kTensorActive);
  if (!busy || !tensor_at_rated || busy->share < kHardly) return std::nullopt;
  return rated_mhz * tensor_at_rated->share / busy->share;
}

KernelLimit KernelCounters::limit() const {
  struct Unit {
    std::optional<CounterShare> use;
    KernelLimit limit;
  };
  const Unit units[] = {{tensor(), KernelLimit::kTensor},
                        {memory(), KernelLimit::kMemory},
                        {value(CounterId::kFp32), KernelLimit::kFp32},
                        {value(CounterId::kFp64), KernelLimit::kFp64}};
  double most = 0;
  KernelLimit limit = KernelLimit::kUnknown;
  for (const Unit& unit : units) {
    if (!unit.use || unit.use->share <= most) continue;
    most = unit.use->share;
    limit = unit.limit;
  }
  if (most >= kLimiting) return limit;
  const auto active = share(CounterId::kSmActive);
  if (!active || limit == KernelLimit::kUnknown) return KernelLimit::kUnknown;
  return *active < kLimiting ? KernelLimit::kLaunch : KernelLimit::kLatency;
}

std::string_view LimitName(KernelLimit limit) {
  constexpr std::string_view kNames[] = {"",     "tensor", "memory", "fp32",
                                         "fp64", "launch", "latency"};
  return kNames[static_cast<std::size_t>(limit)];
}

std::vector<KernelCounters> AttributeCounters(const Rank& rank, const Device& device,
                                              const Intervals& times,
                                              std::optional<double> rated_mhz) {
  return Attribution(rank, device, rated_mhz).Find(times);
}

std::optional<double> DeviceCounters::mean(CounterId id) const { return ShareOf(means, id); }

DeviceCounters MeanCounters(const Device& device, const Intervals& times,
                            std::optional<double> rated_mhz) {
  const CounterSamples& samples = device.counters;
  const TensorAtRated at_rated(samples, rated_mhz);
  DeviceCounters found;
  std::vector<Sum> sums(samples.columns.size());
  std::vector<Sum> rated;  // of each stretch without a gap
  auto window = times.begin();
  TimeNs sampled_until = std::numeric_limits<TimeNs>::min();  // samples of a damaged file overlap
  for (std::size_t sample = 0; sample < samples.size(); ++sample) {
    while (window != times.end() && window->end <= samples.start[sample]) ++window;
    const bool goes_on =
        sample > 0 && samples.start[sample] - samples.end[sample - 1] <= samples.period_ns / 2;
    if (rated.empty() || !goes_on) rated.emplace_back();
    for (auto at = window; at != times.end() && at->start < samples.end[sample]; ++at) {
      const TimeNs inside =
          std::min(at->end, samples.end[sample]) - std::max(at->start, samples.start[sample]);
      if (inside <= 0) continue;
      found.covered_ns +=
          std::max<TimeNs>(0, std::min(at->end, samples.end[sample]) -
                                  std::max({at->start, samples.start[sample], sampled_until}));
      for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i].Add(inside, AsShare(samples.columns[i].value[sample]));
      if (at_rated.is_known()) rated.back().Add(inside, at_rated[sample]);
    }
    sampled_until = std::max<TimeNs>(sampled_until, samples.end[sample]);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].ns > 0 && InfoOf(samples.columns[i].id).unit == kPermille)
      found.means.push_back({samples.columns[i].id, sums[i].mean(), 0});
  }
  found.tensor_at_rated = MeanOfStretches(rated, Length(times));
  return found;
}

}  // namespace traceinject
