// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/structure_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "analyzer/metrics/steps/launch_sequence.h"
#include "analyzer/metrics/steps/loops.h"
#include "analyzer/metrics/steps/step_anchors.h"
#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/for_each_value.h"

namespace traceinject {
namespace {

constexpr double kClusterGap = 0.25;   // of a period: what is closer belongs together
constexpr double kSteadyShare = 0.85;  // of the periods that hold the same number of clusters
constexpr double kNearlyBest = 0.9;    // of the best match
// Of the largest support: where something tells steps apart from what else repeats, and where
// nothing does.
constexpr double kSomeSupport = 0.1, kEnoughSupport = 0.5;
// Mean distance / median where nothing else tells steps from layers: those of a forward or of a
// backward pass leave out the other one.
constexpr double kMaxUnevenStructure = 1.3;
constexpr std::size_t kMatchedPairs = 64;
constexpr double kCommunicates = 0.01;    // of the GPU's time
constexpr std::size_t kWalkers = 16;      // anchors that check the cuts
constexpr double kComplete = 0.9;         // of these, in a step that the recording does not cut
constexpr std::size_t kShortestRun = 16;  // steps between two evaluations
constexpr double kUsual = 0.1;            // of the usual number of launches, more or less
constexpr double kMostWork = 0.5;
constexpr double kSlack = 1.1;         // a step with more elements than that holds something else
constexpr std::size_t kLookBack = 64;  // elements before one that may still run

using Positions = std::vector<std::uint32_t>;

// Elements that belong together: from the first to the last of them.
struct Cluster {
  std::uint32_t first = 0, last = 0;
};

std::vector<Cluster> ClustersOf(const Positions& at, double gap) {
  std::vector<Cluster> clusters;
  for (const std::uint32_t i : at) {
    if (clusters.empty() || i - clusters.back().last > gap) {
      clusters.push_back({i, i});
    } else {
      clusters.back().last = i;
    }
  }
  return clusters;
}

std::uint32_t MedianOf(Positions values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// What tells a step from other things that repeat: elements of which every step has as many.
struct Meaning {
  Positions optimizer, data, communication;
};

Meaning MeaningOf(const Rank& rank, const GpuOps& ops, const LaunchSequence& sequence) {
  Meaning meaning;
  const bool communicates = static_cast<double>(sequence.communication_ns) >=
                            kCommunicates * static_cast<double>(sequence.busy_ns);
  for (std::uint32_t i = 0; i < sequence.size(); ++i) {
    const LaunchSequence::Token& token = sequence.names[sequence.name[i]];
    if (token.optimizer) meaning.optimizer.push_back(i);
    if (token.upload) meaning.data.push_back(i);
    if (communicates && ops.kernel_class[sequence.first_op[i]] == KernelClass::kComm)
      meaning.communication.push_back(i);
  }
  if (meaning.data.empty()) {
    for (const TimeNs end : rank.data_waits.end) {
      const auto next = std::lower_bound(sequence.launched.begin(), sequence.launched.end(), end);
      meaning.data.push_back(static_cast<std::uint32_t>(next - sequence.launched.begin()));
    }
    std::sort(meaning.data.begin(), meaning.data.end());
  }
  return meaning;
}

// How many of `at` lie between two cuts, if it is nearly always the same number; 0: it is not.
std::size_t CountEach(const Positions& cuts, const Positions& at) {
  std::map<std::size_t, std::size_t> periods_by_number;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
    ++periods_by_number[CountIn(at, cuts[i], cuts[i + 1])];
  const auto most =
      std::max_element(periods_by_number.begin(), periods_by_number.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto share = static_cast<double>(most->second) / static_cast<double>(cuts.size() - 1);
  return share >= kSteadyShare ? most->first : 0;
}

// How many clusters of `at` a period has, if nearly all have the same number; 0: they do not.
std::size_t ClustersAPeriod(const PeriodCandidate& periods, const Positions& at,
                            std::size_t* all = nullptr) {
  const Positions& cuts = periods.anchors.front().at;
  Positions starts;
  for (const Cluster& cluster : ClustersOf(at, kClusterGap * periods.length()))
    starts.push_back(cluster.first);
  if (all != nullptr) *all = starts.size();
  return CountEach(cuts, starts);
}

// Whether there are enough of them, over enough of the sequence, for a step to have some.
bool CanTellSteps(const Positions& at, std::size_t elements) {
  return at.size() >= kMinSteps && at.back() - at.front() >= elements / 2;
}

// Whether nearly every period updates the same parameters as the one before it, or these and more.
bool UpdatesTheSame(const PeriodCandidate& periods, const Positions& optimizer,
                    const LaunchSequence& sequence) {
  const Positions& cuts = periods.anchors.front().at;
  const auto kinds_in = [&](std::size_t begin, std::size_t end) {
    const auto from = std::lower_bound(optimizer.begin(), optimizer.end(), begin);
    const auto to = std::lower_bound(from, optimizer.end(), end);
    std::set<std::uint32_t> kinds;
    for (auto at = from; at != to; ++at) kinds.insert(sequence.shape[*at]);
    return kinds;
  };
  const std::vector<std::size_t> sample = SampleOf(cuts.size() - 2, kMatchedPairs);
  std::size_t same = 0;
  for (const std::size_t pair : sample) {
    const std::set<std::uint32_t> a = kinds_in(cuts[pair], cuts[pair + 1]);
    const std::set<std::uint32_t> b = kinds_in(cuts[pair + 1], cuts[pair + 2]);
    const auto both = static_cast<std::size_t>(
        std::count_if(a.begin(), a.end(), [&](std::uint32_t kind) { return b.contains(kind); }));
    same += 2 * both >= std::min(a.size(), b.size()) ? 1 : 0;
  }
  return static_cast<double>(same) >= kSteadyShare * static_cast<double>(sample.size());
}

// Whether nearly every period has the same number of optimizers, and there are none besides.
bool HasOptimizers(const PeriodCandidate& periods, const Positions& optimizer,
                   const LaunchSequence& sequence) {
  std::size_t all = 0;
  const std::size_t number = ClustersAPeriod(periods, optimizer, &all);
  return number > 0 && NearlyAsMany(all / number, periods.count()) &&
         UpdatesTheSame(periods, optimizer, sequence);
}

// Whether there are optimizers, too few to tell steps, up to the end of them: what repeats much
// more often, as layers do that upload something each, is a part of their steps.
bool ArePartsOfSteps(std::size_t count, double length, const Positions& optimizer,
                     std::size_t elements) {
  if (optimizer.empty() || optimizer.back() < elements / 2) return false;
  return count > 2 * ClustersOf(optimizer, kClusterGap * length).size() + 1;
}

struct Choice {
  const PeriodCandidate* periods = nullptr;
  std::size_t optimizers = 0;  // clusters a step; 0: unknown
  double meaning = 0;          // how sure it is that these are steps
};

constexpr double kByOptimizer = 1, kByData = 0.9, kByNothing = 0.6;

// Gradients that are accumulated over so many micro-batches at most, then applied by work that
// takes so much of a micro-batch: more is an evaluation after so many steps, less a log line.
constexpr std::size_t kMaxMicroBatches = 32;
constexpr double kMinUpdate = 0.01, kMaxUpdate = 0.25;

// Whether all that can tell steps says that these may be some.
bool MayBeSteps(const PeriodCandidate& periods, const Meaning& meaning,
                const LaunchSequence& sequence, double* sure) {
  const std::size_t elements = sequence.size();
  *sure = kByNothing;
  if (CanTellSteps(meaning.optimizer, elements)) {
    *sure = kByOptimizer;
    return HasOptimizers(periods, meaning.optimizer, sequence);
  }
  if (ArePartsOfSteps(periods.count(), periods.length(), meaning.optimizer, elements)) return false;
  for (const Positions* at : {&meaning.data, &meaning.communication}) {
    if (!CanTellSteps(*at, elements)) continue;
    *sure = kByData;
    // What comes in nearly every launch of a short step is one cluster.
    if (ClustersAPeriod(periods, *at) == 0 && CountEach(periods.anchors.front().at, *at) == 0)
      return false;
  }
  if (*sure == kByNothing) return periods.anchors.front().unevenness <= kMaxUnevenStructure;
  return true;
}

TimeNs MedianLength(std::vector<TimeNs> lengths) {
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

// Whether the periods are micro-batches, and each of `steps` accumulates as many of them.
bool AreMicroBatches(const PeriodCandidate& periods, const PeriodCandidate& steps,
                     const LaunchSequence& sequence) {
  const Positions &at = periods.anchors.front().at, &updates = steps.anchors.front().at;
  const std::size_t each = CountEach(updates, at);
  if (each < 2 || each > kMaxMicroBatches) return false;
  std::vector<TimeNs> with, without;
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    const bool updated = CountIn(updates, at[i], at[i + 1]) > 0;
    (updated ? with : without).push_back(sequence.LengthOf(at[i], at[i + 1]));
  }
  if (with.empty() || without.empty()) return false;
  const auto alone = static_cast<double>(MedianLength(std::move(without)));
  const double update = static_cast<double>(MedianLength(std::move(with))) - alone;
  return update >= kMinUpdate * alone && update <= kMaxUpdate * alone;
}

// Of the candidates that may be steps and whose periods are alike, the shortest with enough votes.
std::optional<Choice> Choose(const std::vector<PeriodCandidate>& candidates, const Meaning& meaning,
                             const LaunchSequence& sequence) {
  std::vector<Choice> possible;
  double best_name = 0, best_shape = 0;
  for (const PeriodCandidate& candidate : candidates) {
    Choice choice{&candidate, 0, 0};
    if (!MayBeSteps(candidate, meaning, sequence, &choice.meaning)) continue;
    choice.optimizers = ClustersAPeriod(candidate, meaning.optimizer);
    possible.push_back(choice);
    best_name = std::max(best_name, candidate.name_match);
    best_shape = std::max(best_shape, candidate.shape_match);
  }
  // Shapes tell more than names, unless they change from step to step.
  const bool by_shape = best_shape >= kNearlyBest;
  std::erase_if(possible, [&](const Choice& choice) {
    return by_shape ? choice.periods->shape_match < kNearlyBest * best_shape
                    : choice.periods->name_match < kNearlyBest * best_name;
  });
  std::size_t most = 0;
  for (const Choice& choice : possible) most = std::max(most, choice.periods->support);
  for (const Choice& choice : possible) {
    const double enough = choice.meaning == kByNothing ? kEnoughSupport : kSomeSupport;
    if (static_cast<double>(choice.periods->support) < enough * static_cast<double>(most)) continue;
    if (choice.meaning == kByOptimizer) return choice;
    const auto steps = std::find_if(possible.begin(), possible.end(), [&](const Choice& other) {
      return AreMicroBatches(*choice.periods, *other.periods, sequence);
    });
    return steps == possible.end() ? choice : *steps;
  }
  return std::nullopt;
}

// Finds where the steps of a choice begin and end, in elements of the sequence.
class Cutter {
 public:
  Cutter(const GpuOps& ops, const LaunchSequence& sequence, const Meaning& meaning,
         const Choice& choice)
      : ops_(ops), sequence_(sequence), meaning_(meaning), choice_(choice) {
    const std::vector<Anchor>& anchors = choice.periods->anchors;
    walkers_ = std::span(anchors).first(std::min(anchors.size(), kWalkers));
  }

  Positions Cut() {
    Positions cuts = choice_.optimizers > 0 ? AfterOptimizer() : BeforeAnchor();
    cuts = Repaired(cuts);
    if (cuts.size() < 2) return {};
    AddEnds(cuts);
    return cuts;
  }

 private:
  // Device time before an element in which nothing that was launched before it ran.
  TimeNs IdleBefore(std::uint32_t element) const {
    if (element == 0 || element >= sequence_.size()) return 0;
    TimeNs end = std::numeric_limits<TimeNs>::min();
    const std::size_t first = element - std::min<std::size_t>(element, kLookBack);
    ForEachValueIn(sequence_.first_op.values(), first, element,
                   [&](std::size_t, std::uint32_t op) { end = std::max(end, ops_.end[op]); });
    return std::max<TimeNs>(0, ops_.start[sequence_.first_op[element]] - end);
  }
  TimeNs MedianIdleBefore(const Positions& at) const {
    std::vector<TimeNs> idle;
    for (const std::uint32_t element : at) idle.push_back(IdleBefore(element));
    const auto middle = idle.begin() + static_cast<std::ptrdiff_t>(idle.size() / 2);
    std::nth_element(idle.begin(), middle, idle.end());
    return *middle;
  }

  // Of several optimizers, the one before the longest idle time ends the step.
  Positions AfterOptimizer() const {
    const std::vector<Cluster> clusters =
        ClustersOf(meaning_.optimizer, kClusterGap * choice_.periods->length());
    const Positions& periods = choice_.periods->anchors.front().at;
    std::vector<Positions> after(choice_.optimizers);
    std::size_t at = 0;
    for (std::size_t i = 0; i <= periods.size(); ++i) {
      const std::size_t end = i < periods.size() ? periods[i] : sequence_.size();
      const std::size_t begin = at;
      while (at < clusters.size() && clusters[at].first < end) ++at;
      if (choice_.optimizers > 1 && at - begin != choice_.optimizers) continue;
      for (std::size_t k = begin; k < at; ++k)
        after[(k - begin) % choice_.optimizers].push_back(clusters[k].last + 1);
    }
    return *std::max_element(after.begin(), after.end(),
                             [&](const Positions& a, const Positions& b) {
                               if (a.empty() || b.empty()) return a.size() < b.size();
                               return MedianIdleBefore(a) < MedianIdleBefore(b);
                             });
  }

  // A recording of a whole number of periods, with nothing before and after, begins where a step
  // does. The element with which it begins, in each of them.
  std::optional<Positions> FromTheBeginning() const {
    constexpr double kWhole = 0.02;  // of a period
    const PeriodCandidate& periods = *choice_.periods;
    const Anchor& first = *std::min_element(
        periods.anchors.begin(), periods.anchors.end(),
        [](const Anchor& a, const Anchor& b) { return a.at.front() < b.at.front(); });
    const double rest = static_cast<double>(sequence_.size()) -
                        static_cast<double>(first.at.size()) * periods.length();
    if (std::abs(rest) > kWhole * periods.length()) return std::nullopt;
    Positions cuts = first.at;
    for (std::uint32_t& cut : cuts) cut -= first.at.front();
    return cuts;
  }

  Positions BeforeAnchor() const {
    const Anchor* best = nullptr;
    std::pair<bool, TimeNs> most;
    for (const Anchor& anchor : choice_.periods->anchors) {
      const auto& table = anchor.by_shape ? sequence_.shapes : sequence_.names;
      const std::pair<bool, TimeNs> weight = {table[anchor.token].upload,
                                              MedianIdleBefore(anchor.at)};
      if (best != nullptr && weight <= most) continue;
      best = &anchor;
      most = weight;
    }
    if (most.first) return best->at;
    return FromTheBeginning().value_or(best->at);
  }

  // How many periods lie between two cuts, by what the walkers saw there.
  std::size_t PeriodsIn(std::size_t begin, std::size_t end) const {
    Positions counts;
    for (const Anchor& walker : walkers_)
      counts.push_back(static_cast<std::uint32_t>(CountIn(walker.at, begin, end)));
    return MedianOf(std::move(counts));
  }

  // Walks from cut to cut: one with no step before it is none, and where two steps lie between two
  // cuts one is missing. Records may be lost, and other work than steps may lie between them.
  Positions Repaired(const Positions& found) const {
    Positions cuts;
    for (const std::uint32_t cut : found) {
      if (cuts.empty()) {
        cuts.push_back(cut);
        continue;
      }
      const std::size_t periods = PeriodsIn(cuts.back(), cut);
      if (periods == 0) continue;
      if (periods == 2) cuts.push_back(Between(cuts.back(), cut));
      cuts.push_back(cut);
    }
    return cuts;
  }
  std::uint32_t Between(std::uint32_t begin, std::uint32_t end) const {
    for (const Anchor& walker : walkers_) {
      const auto first = std::lower_bound(walker.at.begin(), walker.at.end(), begin);
      if (CountIn(walker.at, begin, end) != 2) continue;
      return begin + (*(first + 1) - *first);
    }
    return begin + (end - begin) / 2;
  }

  // The walker's distance from the cut before it.
  std::uint32_t OffsetOf(const Anchor& walker, const Positions& cuts) const {
    Positions offsets;
    for (const std::uint32_t cut : cuts) {
      const auto next = std::lower_bound(walker.at.begin(), walker.at.end(), cut);
      if (next != walker.at.end()) offsets.push_back(*next - cut);
    }
    return MedianOf(std::move(offsets));
  }
  bool IsComplete(std::size_t begin, std::size_t end) const {
    const auto present = std::count_if(walkers_.begin(), walkers_.end(), [&](const Anchor& walker) {
      return CountIn(walker.at, begin, end) > 0;
    });
    return static_cast<double>(present) >= kComplete * static_cast<double>(walkers_.size());
  }

  // The steps before the first and after the last cut, if they are whole. What the program did
  // before its first and after its last step is left out.
  void AddEnds(Positions& cuts) const {
    Positions lengths;
    for (std::size_t i = 1; i < cuts.size(); ++i) lengths.push_back(cuts[i] - cuts[i - 1]);
    const std::uint32_t length = MedianOf(lengths);
    const auto longest = static_cast<std::uint32_t>(kSlack * length);
    const auto elements = static_cast<std::uint32_t>(sequence_.size());
    const bool head = IsComplete(0, cuts.front()), tail = IsComplete(cuts.back(), elements);
    const auto by_offset = [&](const Anchor& a, const Anchor& b) {
      return OffsetOf(a, cuts) < OffsetOf(b, cuts);
    };
    const auto [first, last] = std::minmax_element(walkers_.begin(), walkers_.end(), by_offset);
    const std::uint32_t first_offset = OffsetOf(*first, cuts), last_offset = OffsetOf(*last, cuts);
    if (tail) {
      const auto at = std::lower_bound(last->at.begin(), last->at.end(), cuts.back());
      const bool more = elements - cuts.back() > longest && at != last->at.end();
      cuts.push_back(more ? std::min(elements, *at + length - std::min(length, last_offset))
                          : elements);
    }
    if (head) {
      auto at = std::lower_bound(first->at.begin(), first->at.end(), cuts.front());
      const bool more = cuts.front() > longest && at != first->at.begin();
      cuts.insert(cuts.begin(), more ? *--at - std::min(*at, first_offset) : 0);
    }
  }

  const GpuOps& ops_;
  const LaunchSequence& sequence_;
  const Meaning& meaning_;
  const Choice& choice_;
  std::span<const Anchor> walkers_;
};

double ConfidenceOf(const Choice& choice, const LaunchSequence& sequence, const Positions& cuts) {
  constexpr double kOneVote = 0.3, kMoreVotes = 0.1, kWholeVotes = 5;
  const PeriodCandidate& periods = *choice.periods;
  double votes = static_cast<double>(periods.support);
  for (const Anchor& anchor : periods.anchors) {
    // A graph is a whole program, and so is all that the host waits for.
    const auto& table = anchor.by_shape ? sequence.shapes : sequence.names;
    votes += table[anchor.token].whole ? kWholeVotes : 0;
  }
  const double covered =
      static_cast<double>(cuts.back() - cuts.front()) / static_cast<double>(sequence.size());
  return std::min({std::max(periods.name_match, periods.shape_match),
                   1 - periods.anchors.front().variation, covered,
                   std::min(1.0, kOneVote + kMoreVotes * (votes - 1)), choice.meaning});
}

// The first step begins with the wait for its data, if that was recorded.
TimeNs StartOfFirst(const Rank& rank, TimeNs launched, TimeNs next_cut) {
  TimeNs start = launched;
  const DataWaits& waits = rank.data_waits;
  for (std::size_t i = 0; i < waits.size() && waits.start[i] < launched; ++i) {
    if (launched - waits.end[i] < next_cut - launched) start = std::min(start, waits.start[i]);
  }
  return start;
}

struct FoundSteps {
  StructureSteps steps;
  bool alike = false;  // or something tells that these are steps
  double meaning = 0;
  double usual_share = 0;  // of the device's work, in steps of the usual number of launches

  std::size_t count() const { return steps.cuts.size() - 1; }
};

double UsualShare(const Positions& cuts, const LaunchSequence& sequence) {
  Positions lengths;
  for (std::size_t i = 1; i < cuts.size(); ++i) lengths.push_back(cuts[i] - cuts[i - 1]);
  const std::uint32_t usual = MedianOf(lengths);
  TimeNs usual_ns = 0;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    if (std::abs(static_cast<double>(lengths[i - 1]) - usual) > kUsual * usual) continue;
    usual_ns += sequence.LengthOf(cuts[i - 1], cuts[i]);
  }
  return static_cast<double>(usual_ns) / static_cast<double>(std::max<TimeNs>(1, sequence.busy_ns));
}

std::optional<FoundSteps> StepsOf(const Rank& rank, const GpuOps& ops,
                                  const LaunchSequence& sequence) {
  const std::vector<PeriodCandidate> candidates = FindPeriods(sequence);
  const Meaning meaning = MeaningOf(rank, ops, sequence);
  const std::optional<Choice> choice = Choose(candidates, meaning, sequence);
  if (!choice) return std::nullopt;
  const Positions cuts = Cutter(ops, sequence, meaning, *choice).Cut();
  if (cuts.size() <= kMinSteps) return std::nullopt;
  StructureSteps steps;
  steps.confidence = ConfidenceOf(*choice, sequence, cuts);
  if (steps.confidence < kMinStepConfidence) return std::nullopt;
  for (const std::uint32_t cut : cuts) {
    steps.cuts.push_back(cut < sequence.size() ? sequence.launched[cut]
                                               : sequence.launched.back() + 1);
  }
  if (cuts.front() == 0) steps.cuts[0] = StartOfFirst(rank, steps.cuts[0], steps.cuts[1]);
  const double match = std::max(choice->periods->name_match, choice->periods->shape_match);
  return FoundSteps{std::move(steps), choice->meaning > kByNothing || match >= kNearlyBest,
                    choice->meaning, UsualShare(cuts, sequence)};
}

// Elements that are told apart by what follows them, where they alone tell little: a kernel that
// comes three times a step looks like one that ends three of them.
std::optional<FoundSteps> StepsWithContext(const Rank& rank, const GpuOps& ops,
                                           const LaunchSequence& sequence) {
  constexpr std::size_t kContexts[] = {4, 16, 64};
  std::optional<FoundSteps> best = StepsOf(rank, ops, sequence);
  for (const std::size_t length : kContexts) {
    if ((best && best->alike) || length * kMinSteps > sequence.size()) break;
    std::optional<FoundSteps> found = StepsOf(rank, ops, WithContext(sequence, length));
    if (found && (!best || found->alike)) best = std::move(found);
  }
  return best;
}

// Whether a loop is one of layers, beside optimizers that come more seldom.
bool IsInsideOfSteps(const Loop& loop, const LaunchSequence& sequence) {
  Positions optimizer;
  for (std::uint32_t i = 0; i < sequence.size(); ++i) {
    if (sequence.names[sequence.name[i]].optimizer) optimizer.push_back(i);
  }
  const auto count = loop.begins.size();
  const double length =
      static_cast<double>(loop.end - loop.begins.front()) / static_cast<double>(count);
  return ArePartsOfSteps(count, length, optimizer, sequence.size());
}

std::optional<FoundSteps> StepsOfLoop(const LaunchSequence& sequence) {
  const std::optional<Loop> loop = FindLoop(sequence);
  if (!loop || loop->one_kernel || IsInsideOfSteps(*loop, sequence)) return std::nullopt;
  const double meaning = loop->takes_data ? kByData : kByNothing;
  StructureSteps steps;
  steps.confidence = std::min(loop->covered, meaning);
  for (const std::uint32_t begin : loop->begins) steps.cuts.push_back(sequence.launched[begin]);
  steps.cuts.push_back(loop->end < sequence.size() ? sequence.launched[loop->end]
                                                   : sequence.launched.back() + 1);
  return FoundSteps{std::move(steps), true, meaning, loop->covered};
}

// Of a loop of launches; else of what is launched between two waits of the host.
std::optional<FoundSteps> ShortSteps(const Rank& rank, const GpuOps& ops,
                                     const LaunchSequence& sequence) {
  if (std::optional<FoundSteps> steps = StepsOfLoop(sequence)) return steps;
  return StepsOfLoop(BetweenWaits(rank, ops, sequence));
}

// Whether what was found are no steps beside these short ones: runs of them, from one evaluation to
// the next, of which each holds more than there are runs; or the batches of the evaluations, which
// do the lesser part of the work.
bool AreNone(const FoundSteps& found, const FoundSteps& steps) {
  const std::size_t each = steps.count() / found.count();
  const bool runs = each >= kShortestRun && each > found.count();
  return found.meaning < kByOptimizer && (runs || found.usual_share < kMostWork);
}

std::optional<FoundSteps> StepsOfAny(const Rank& rank, const GpuOps& ops,
                                     const LaunchSequence& sequence) {
  std::optional<FoundSteps> best = StepsWithContext(rank, ops, sequence);
  if (best && best->meaning == kByOptimizer) return best;
  std::optional<FoundSteps> steps = ShortSteps(rank, ops, sequence);
  return steps && (!best || AreNone(*best, *steps)) ? std::move(steps) : std::move(best);
}

// Whether what was found may be what repeats while a program starts, as compilers that try kernels
// do: the lesser part of the work, in the lesser part of the time.
bool MayBeStartUp(const FoundSteps& found, const LaunchSequence& sequence) {
  const std::vector<TimeNs>& cuts = found.steps.cuts;
  const auto all = static_cast<double>(sequence.launched.back() - sequence.launched.front());
  return found.meaning < kByOptimizer && found.usual_share < kMostWork &&
         static_cast<double>(cuts.back() - cuts.front()) < kMostWork * all;
}

}  // namespace

std::optional<StructureSteps> FindStructureSteps(const Rank& rank, const GpuOps& ops) {
  const LaunchSequence sequence = SequenceOf(rank, ops);
  std::optional<FoundSteps> best = StepsOfAny(rank, ops, sequence);
  for (const StartUpBy by : {StartUpBy::kLaunches, StartUpBy::kTime}) {
    if (best && !MayBeStartUp(*best, sequence)) break;
    const LaunchSequence later = WithoutStartUp(sequence, by);
    if (later.size() == sequence.size()) continue;
    std::optional<FoundSteps> found = StepsOfAny(rank, ops, later);
    // Of the few launches of a long time some may always repeat.
    if (found && by == StartUpBy::kTime && found->usual_share < kMostWork) continue;
    if (found && (!best || found->usual_share > best->usual_share)) best = std::move(found);
  }
  if (!best) return std::nullopt;
  return std::move(best->steps);
}

}  // namespace traceinject
