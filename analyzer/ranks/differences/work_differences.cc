// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/differences/work_differences.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyzer/common/median.h"

namespace traceinject {
namespace {

// Where shapes changed places, so that the peers have so much of the time in others, they are
// compared together.
constexpr double kMovedShare = 0.2;
// A line is named if it has so much of the difference.
constexpr double kLeastLineShare = 0.5;
// Counts are the same within this.
constexpr double kSameCount = 0.05, kSameLaunches = 0.5;

using Lines = std::map<std::string_view, double>;

// Launches of a step, and their time.
struct Launches {
  double count = 0, ns = 0;
};

// What a rank runs in a step.
class StepKernels {
 public:
  explicit StepKernels(const RankSummary& of) {
    steps_ = static_cast<double>(
        std::count_if(of.steps.begin(), of.steps.end(), [](const auto& s) { return s.regular; }));
    if (steps_ == 0) return;
    std::size_t shapes = 0;
    TimeNs least = 0;
    for (const KernelFacts& kernel : of.kernels) {
      kernels_.emplace(kernel.name, &kernel);
      shapes += kernel.shapes.size();
      for (const ShapeFacts& shape : kernel.shapes)
        least = least == 0 ? shape.total_ns : std::min(least, shape.total_ns);
    }
    if (of.kernels.size() == kMaxKernelFacts)
      least_kernel_ = static_cast<double>(of.kernels.back().total_ns) / steps_;
    if (shapes == kMaxShapeFacts) least_shape_ = static_cast<double>(least) / steps_;
  }

  bool empty() const { return kernels_.empty(); }
  const auto& kernels() const { return kernels_; }

  Launches Of(std::string_view name) const {
    const KernelFacts* const kernel = Find(name);
    if (kernel == nullptr) return {0, least_kernel_};
    return PerStep(kernel->count, kernel->total_ns);
  }
  Launches Of(std::string_view name, const WorkShape& shape) const {
    const ShapeFacts* const facts = Find(name, shape);
    if (facts == nullptr) return {0, std::min(least_shape_, Of(name).ns)};
    return PerStep(facts->count, facts->total_ns);
  }
  // That launched kernels of this name, or those of one shape.
  Lines LinesOf(std::string_view name, const WorkShape* shape) const {
    Lines lines;
    const KernelFacts* const kernel = Find(name);
    if (kernel == nullptr) return lines;
    for (const ShapeFacts& one : kernel->shapes) {
      if (shape != nullptr && one.shape != *shape) continue;
      for (const LineFacts& line : one.lines)
        lines[line.place] += static_cast<double>(line.ns) / steps_;
    }
    return lines;
  }
  void AddShapes(std::string_view name, std::map<WorkShape, double>& to) const {
    const KernelFacts* const kernel = Find(name);
    if (kernel == nullptr) return;
    for (const ShapeFacts& shape : kernel->shapes) to.emplace(shape.shape, 0);
  }

 private:
  Launches PerStep(std::int64_t count, TimeNs ns) const {
    return {static_cast<double>(count) / steps_, static_cast<double>(ns) / steps_};
  }
  const KernelFacts* Find(std::string_view name) const {
    const auto found = kernels_.find(name);
    return found == kernels_.end() ? nullptr : found->second;
  }
  const ShapeFacts* Find(std::string_view name, const WorkShape& shape) const {
    const KernelFacts* const kernel = Find(name);
    if (kernel == nullptr) return nullptr;
    const auto found = std::find_if(kernel->shapes.begin(), kernel->shapes.end(),
                                    [&](const ShapeFacts& one) { return one.shape == shape; });
    return found == kernel->shapes.end() ? nullptr : &*found;
  }

  double steps_ = 0;
  std::unordered_map<std::string_view, const KernelFacts*> kernels_;
  double least_kernel_ = 0, least_shape_ = 0;  // of what is not listed, at most; 0: all is
};

// At most kMaxComparedPeers, spread over all.
std::vector<std::size_t> SomeOf(const std::vector<std::size_t>& peers) {
  if (peers.size() <= kMaxComparedPeers) return peers;
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < kMaxComparedPeers; ++i)
    some.push_back(peers[i * peers.size() / kMaxComparedPeers]);
  return some;
}

// The line that has most over the peers; empty: none has much of the difference.
std::string LineWithMost(const Lines& own, const std::vector<Lines>& peers, double more_ns) {
  std::pair<double, std::string_view> most{kLeastLineShare * more_ns, {}};
  for (const auto& [place, ns] : own) {
    std::vector<double> others;
    for (const Lines& lines : peers) {
      const auto found = lines.find(place);
      others.push_back(found == lines.end() ? 0 : found->second);
    }
    const double more = ns - Median(std::move(others));
    if (more > most.first) most = {more, place};
  }
  return std::string(most.second);
}

class KernelComparison {
 public:
  KernelComparison(const Job& job, std::size_t rank, const std::vector<std::size_t>& peers)
      : own_(job.ranks[rank]) {
    for (const std::size_t peer : SomeOf(peers)) {
      StepKernels kernels(job.ranks[peer]);
      if (!kernels.empty()) peers_.push_back(std::move(kernels));
    }
  }

  std::vector<KernelDifference> Compare(double least_ns) {
    if (peers_.empty()) return {};
    for (const auto& [name, kernel] : own_.kernels()) {
      if (own_.Of(name).ns - UsualOf(name).ns >= least_ns) CompareShapes(name, *kernel);
    }
    std::erase_if(found_, [&](const auto& one) { return one.more_ns < least_ns; });
    std::sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) {
      return a.more_ns != b.more_ns ? a.more_ns > b.more_ns : a.kernel < b.kernel;
    });
    if (found_.size() > kMaxDifferences) found_.resize(kMaxDifferences);
    return std::move(found_);
  }

 private:
  template <typename... Which>
  Launches UsualOf(const Which&... which) const {
    std::vector<double> counts, times;
    for (const StepKernels& peer : peers_) {
      const Launches launches = peer.Of(which...);
      counts.push_back(launches.count);
      times.push_back(launches.ns);
    }
    return {Median(std::move(counts)), Median(std::move(times))};
  }

  void CompareShapes(std::string_view name, const KernelFacts& kernel) {
    std::map<WorkShape, double> over;  // over the peers
    own_.AddShapes(name, over);
    for (const StepKernels& peer : peers_) peer.AddShapes(name, over);
    double more = 0, less = 0;
    for (auto& [shape, ns] : over) {
      ns = own_.Of(name, shape).ns - UsualOf(name, shape).ns;
      (ns > 0 ? more : less) += ns;
    }
    if (kernel.shapes.empty() || -less > kMovedShare * more) {
      AddTogether(name, over);
      return;
    }
    for (const ShapeFacts& shape : kernel.shapes) {
      if (over[shape.shape] > 0)
        Add(name, &shape.shape, own_.Of(name, shape.shape), UsualOf(name, shape.shape));
    }
  }

  void AddTogether(std::string_view name, const std::map<WorkShape, double>& over) {
    KernelDifference& one = Add(name, nullptr, own_.Of(name), UsualOf(name));
    if (over.empty()) return;
    const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
    one.shape = std::max_element(over.begin(), over.end(), by_time)->first;
    const double few = kSameLaunches + kSameCount * one.peers_count;
    if (std::abs(one.count - one.peers_count) > few) return;
    one.kind = KernelDifference::Kind::kLarger;
    one.peers_shape = std::min_element(over.begin(), over.end(), by_time)->first;
  }

  KernelDifference& Add(std::string_view name, const WorkShape* shape, const Launches& own,
                        const Launches& usual) {
    KernelDifference& one = found_.emplace_back();
    one.kernel = name;
    if (shape != nullptr) one.shape = *shape;
    one.count = own.count;
    one.peers_count = usual.count;
    one.more_ns = own.ns - usual.ns;
    const double mean = own.count > 0 ? own.ns / own.count : 0,
                 usual_mean = usual.count > 0 ? usual.ns / usual.count : 0;
    if (usual_mean > 0) one.ratio = mean / usual_mean;
    const double by_count = (own.count - usual.count) * (usual_mean > 0 ? usual_mean : mean);
    one.kind = by_count >= one.more_ns / 2 ? KernelDifference::Kind::kMore
                                           : KernelDifference::Kind::kSlower;
    std::vector<Lines> lines;
    for (const StepKernels& peer : peers_) lines.push_back(peer.LinesOf(name, shape));
    one.place = LineWithMost(own_.LinesOf(name, shape), lines, one.more_ns);
    return one;
  }

  StepKernels own_;
  std::vector<StepKernels> peers_;
  std::vector<KernelDifference> found_;
};

const std::vector<LineFacts>& HostLinesOf(const RankSummary& summary, bool in_worker) {
  return in_worker ? summary.worker_lines : summary.host_lines;
}

}  // namespace

std::vector<KernelDifference> CompareKernels(const Job& job, std::size_t rank,
                                             const std::vector<std::size_t>& peers,
                                             double least_ns) {
  return KernelComparison(job, rank, peers).Compare(least_ns);
}

std::vector<LineDifference> CompareLines(const Job& job, std::size_t rank,
                                         const std::vector<std::size_t>& peers, bool in_worker,
                                         double least_ns) {
  std::vector<Lines> others;
  for (const std::size_t peer : SomeOf(peers)) {
    // Without looks at the host, nothing is known of its lines.
    if (job.ranks[peer].host_lines.empty()) continue;
    Lines& lines = others.emplace_back();
    for (const LineFacts& line : HostLinesOf(job.ranks[peer], in_worker))
      lines[line.place] += static_cast<double>(line.ns);
  }
  std::vector<LineDifference> found;
  if (others.empty()) return found;
  for (const LineFacts& line : HostLinesOf(job.ranks[rank], in_worker)) {
    std::vector<double> times;
    for (const Lines& lines : others) {
      const auto same = lines.find(line.place);
      times.push_back(same == lines.end() ? 0 : same->second);
    }
    LineDifference one{line.place, in_worker, static_cast<double>(line.ns),
                       Median(std::move(times))};
    if (one.more_ns() >= least_ns) found.push_back(std::move(one));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.more_ns() > b.more_ns(); });
  if (found.size() > kMaxDifferences) found.resize(kMaxDifferences);
  return found;
}

}  // namespace traceinject
