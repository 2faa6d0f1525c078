// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/findings/analyse_job.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/common/whole.h"
#include "analyzer/metrics/report/printable.h"
#include "analyzer/ranks/causes/hangs.h"
#include "analyzer/ranks/causes/job_links.h"
#include "analyzer/ranks/causes/link_rates.h"
#include "analyzer/ranks/causes/lost_time.h"
#include "analyzer/ranks/causes/parallel_groups.h"
#include "analyzer/ranks/causes/pipelines.h"
#include "analyzer/ranks/causes/rank_waits.h"
#include "analyzer/ranks/causes/slow_links.h"
#include "analyzer/ranks/causes/slow_spells.h"
#include "analyzer/ranks/causes/slow_transports.h"
#include "analyzer/ranks/causes/stragglers.h"
#include "analyzer/ranks/causes/work_table.h"
#include "analyzer/ranks/findings/rank_findings.h"
#include "analyzer/ranks/findings/spell_findings.h"
#include "analyzer/ranks/findings/write_links.h"
#include "analyzer/ranks/findings/write_lost_time.h"
#include "analyzer/ranks/match/align_clocks.h"
#include "analyzer/ranks/match/list_collectives.h"
#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/match/missing_records.h"
#include "analyzer/ranks/match/rank_names.h"
#include "analyzer/ranks/replay/job_replay.h"
#include "analyzer/ranks/replay/job_steps.h"
#include "analyzer/ranks/replay/own_time.h"
#include "analyzer/ranks/replay/work_pieces.h"

namespace traceinject {
namespace {

constexpr std::size_t kLatenessParts = 20;  // of a row's heat strip
constexpr int kMaxMismatches = 20;
constexpr std::int64_t kMaxLostOperations = 2;  // at the end of a recording

// Steps of a timeline that were not recorded lie between those that were.
void AddUnrecorded(const RankSummary& rank, Intervals& to) {
  if (!rank.tells_operations()) return;
  for (std::size_t i = 1; i < rank.steps.size(); ++i) {
    const Interval gap{rank.steps[i - 1].time.end, rank.steps[i].time.start};
    if (gap.end > gap.start) to.push_back(gap);
  }
}

std::vector<OwnTime> OwnTimesOf(const Job& job, const std::vector<MatchedGroup>& groups) {
  std::vector<Intervals> missing = FindMissingBlocks(job, groups);
  for (std::size_t r = 0; r < job.ranks.size(); ++r) AddUnrecorded(job.ranks[r], missing[r]);
  std::vector<OwnTime> own;
  own.reserve(job.ranks.size());
  for (std::size_t r = 0; r < job.ranks.size(); ++r) own.emplace_back(job.ranks[r], missing[r]);
  return own;
}

// A rank that lacks an operation or two has as good as always lost the records of them.
bool IsLostRecord(const Mismatch& mismatch) {
  return mismatch.kind == Mismatch::Kind::kLacks || (mismatch.kind == Mismatch::Kind::kEndsBefore &&
                                                     mismatch.operations <= kMaxLostOperations);
}

// What the parts have in common. Members are built in their order, each from those before it.
class JobAnalysis {
 public:
  explicit JobAnalysis(const Job& job)
      : job_(job),
        matches_(MatchRanks(job)),
        clocks_(AlignClocks(job, matches_)),
        waits_(FindWaits(job, matches_, clocks_)),
        steps_(NumberSteps(job, matches_.groups)),
        own_(OwnTimesOf(job, matches_.groups)),
        pipelines_(FindPipelines(job, matches_.groups, steps_)),
        work_(job, steps_, own_, waits_.ranks, pipelines_.stage),
        stage_work_(StageWork(pipelines_, work_)),
        uses_(FindParallelGroups(job, matches_.groups, steps_)),
        rates_(MeasureLinks(job, matches_.groups)),
        pieces_(job, matches_.groups, steps_, own_, pipelines_.stage),
        replay_(job, matches_.groups, steps_, own_, pieces_) {
    SumSteps();
  }

  proto::Ranks Write(const JobAnalysisOptions& options) const {
    proto::Ranks to;
    to.set_tool_version(TRACEINJECT_VERSION);
    to.set_base_unix_ns(job_.base_ns);
    for (const std::string& note : job_.notes) to.add_notes(note);
    for (const std::string& note : matches_.notes) to.add_notes(note);
    for (const std::string& note : clocks_.notes) to.add_notes(note);
    for (const std::string& note : waits_.notes) to.add_notes(note);
    for (std::size_t r = 0; r < job_.ranks.size(); ++r) Row(r, *to.add_ranks());
    to.set_of_operations(pieces_.are_told());
    Totals(to);
    if (options.lost_time) Lost(to);
    Findings(to);
    Groups(to);
    if (pipelines_.stages > 1) Pipeline(*to.mutable_pipeline());
    WriteLinks(job_, matches_.groups, ListLinks(job_, matches_.groups, rates_, uses_), to);
    ListCollectives(job_, matches_.groups, options.collectives, to);
    return to;
  }

 private:
  void SumSteps() {
    double sum = 0, count = 0;
    for (const std::size_t step : work_.regular_steps()) {
      for (std::size_t r = 0; r < job_.ranks.size(); ++r) {
        const StepFacts* const facts = steps_.Find(job_, r, step);
        if (facts == nullptr) continue;
        sum += static_cast<double>(facts->time.end - facts->time.start);
        ++count;
      }
    }
    if (count > 0) step_ns_ = sum / count;
  }

  void Row(std::size_t r, proto::RankRow& to) const {
    const RankSummary& summary = job_.ranks[r];
    if (summary.rank >= 0) to.set_rank(summary.rank);
    to.set_device(summary.device);
    to.set_host(summary.host);
    to.set_gpu(summary.gpu);
    to.set_path(summary.path);
    to.set_closed(summary.closed);
    to.set_dropped(summary.dropped);
    if (pipelines_.stage[r] != kNone) to.set_stage(static_cast<int>(pipelines_.stage[r]));
    Clock(r, to);
    StepMeans(r, to);
    Waits(r, to);
    Lateness(r, to);
  }

  void Clock(std::size_t r, proto::RankRow& to) const {
    const ClockFit& fit = clocks_.ranks[r];
    to.set_clock_reason(fit.reason);
    if (!fit.aligned) return;
    const RankSummary& summary = job_.ranks[r];
    const TimeNs middle = summary.start + (summary.end - summary.start) / 2;
    to.set_clock_offset_ns(middle - ToJob(fit, middle) - summary.clock_shift);
    to.set_clock_sigma_ns(Whole(fit.sigma_ns));
    to.set_clock_drift_ppm(-1e6 * (fit.drift + summary.clock_drift));
  }

  void StepMeans(std::size_t r, proto::RankRow& to) const {
    double count = 0, length = 0, idle = 0, exposed = 0, own = 0, usual = 0, compared = 0;
    for (const std::size_t step : work_.regular_steps()) {
      const StepFacts* const facts = steps_.Find(job_, r, step);
      if (facts == nullptr) continue;
      ++count;
      length += static_cast<double>(facts->time.end - facts->time.start);
      exposed += static_cast<double>(facts->exposed_communication_ns);
      idle += static_cast<double>(
          std::accumulate(facts->idle_ns.begin(), facts->idle_ns.end(), TimeNs{0}));
      own += work_.own_ns(r, step).value_or(0);
      if (const auto of_peers = work_.usual_ns(r, step)) {
        usual += *of_peers;
        ++compared;
      }
    }
    to.set_steps(Whole(count));
    if (count == 0) return;
    to.set_step_ns(Whole(length / count));
    to.set_own_ns(Whole(own / count));
    to.set_exposed_ns(Whole(exposed / count));
    if (length > 0) to.set_busy_share(1 - idle / length);
    if (compared > 0) to.set_usual_ns(Whole(usual / compared));
  }

  void Waits(std::size_t r, proto::RankRow& to) const {
    if (!steps_.first[r] || to.steps() == 0) return;
    WaitSums sum;
    for (std::size_t i = 0; i < waits_.ranks[r].steps.size(); ++i) {
      if (steps_.regular[*steps_.first[r] + i]) sum += waits_.ranks[r].steps[i];
    }
    if (sum.operations == 0) return;
    to.set_wait_suffered_ns(sum.wait_ns / to.steps());
    to.set_exposed_wait_ns(sum.exposed_wait_ns / to.steps());
    to.set_wait_caused_ns(sum.caused_ns / to.steps());
    to.set_transfer_ns(sum.transfer_ns / to.steps());
    to.set_contention_ns(sum.contention_ns / to.steps());
  }

  void Lateness(std::size_t r, proto::RankRow& to) const {
    const std::vector<std::size_t>& regular = work_.regular_steps();
    const std::size_t parts = std::min(kLatenessParts, regular.size());
    for (std::size_t part = 0; part < parts; ++part) {
      double excess = 0, usual = 0;
      for (std::size_t i = part * regular.size() / parts; i < (part + 1) * regular.size() / parts;
           ++i) {
        const auto own = work_.own_ns(r, regular[i]), of_peers = work_.usual_ns(r, regular[i]);
        if (!own || !of_peers) continue;
        excess += *own - *of_peers;
        usual += *of_peers;
      }
      to.add_lateness(usual > 0 ? excess / usual : 0);
    }
  }

  void Totals(proto::Ranks& to) const {
    std::set<std::string_view> hosts;
    for (const RankSummary& summary : job_.ranks) hosts.insert(summary.host);
    if (!hosts.contains("")) to.set_hosts(static_cast<std::int64_t>(hosts.size()));
    to.set_steps(static_cast<std::int64_t>(steps_.count_regular()));
    if (step_ns_ > 0) to.set_step_ns(Whole(step_ns_));
    if (replay_.empty()) return;
    to.set_replay_error(replay_.error());
    const JobChange even = pieces_.are_told() ? EvenOperations() : EvenRanks();
    const std::vector<double>&before = replay_.unchanged(), after = replay_.Play(even);
    const double sum = std::accumulate(before.begin(), before.end(), 0.0),
                 ideal = std::accumulate(after.begin(), after.end(), 0.0);
    if (ideal > 0) to.set_slowdown(sum / ideal);
  }

  // Every rank at its peers' median.
  JobChange EvenRanks() const {
    JobChange even;
    even.own = [this](std::size_t rank, std::size_t step) {
      const auto own = work_.own_ns(rank, step), usual = work_.usual_ns(rank, step);
      return own && usual ? work_.Factor(rank, step, std::min(*own, *usual)) : 1;
    };
    return even;
  }

  // Every operation and transfer at the mean of its kind, as in StragglerAnalysis (lost_time.h).
  JobChange EvenOperations() const {
    JobChange even;
    even.piece = [factors = pieces_.AtMean(WorkPieces::Alike::kOfJob)](
                     std::size_t rank, std::size_t piece) { return factors[rank][piece]; };
    even.transfer = [factors = TransfersAtMean(matches_.groups.size(), rates_)](std::size_t group) {
      return factors[group];
    };
    return even;
  }

  void Lost(proto::Ranks& to) const {
    if (replay_.empty()) return;
    WriteLostTime(job_, uses_,
                  FindLostTime(job_, matches_.groups, work_, pieces_, pipelines_, stage_work_,
                               uses_, rates_, replay_),
                  to);
  }

  void Findings(proto::Ranks& to) const {
    for (const Hang& hang : FindHangs(job_)) *to.add_findings() = DescribeHang(job_, hang);
    std::vector<proto::RankFinding> found;
    const SpellTimes times{job_, steps_, clocks_, step_ns_};
    std::vector<SlowSpell> spells = FindSlowSpells(job_, steps_, work_, replay_);
    const Skew skew =
        FindSkew(job_, steps_, work_, pieces_, SpellSteps(spells, job_.ranks.size()), replay_);
    for (const Straggler& one : skew.stragglers) {
      found.push_back(DescribeStraggler(job_, one, step_ns_));
      TellWhen(times, one, spells, found.back());
    }
    for (proto::RankFinding& one : DescribeSlowSpells(times, spells))
      found.push_back(std::move(one));
    if (skew.imbalance.found) found.push_back(DescribeImbalance(skew.imbalance, step_ns_));
    for (const SlowGroups& link : FindSlowLinks(job_, matches_.groups, rates_, replay_)) {
      if (link.saving.low_ns >= kMinSavedShare * step_ns_)
        found.push_back(DescribeSlowLink(job_, link, step_ns_));
    }
    if (const auto slow = FindSlowTransport(job_, matches_.groups, work_, replay_);
        slow && slow->saving.low_ns >= kMinSavedShare * step_ns_)
      found.push_back(DescribeSlowTransport(job_, *slow, step_ns_));
    for (proto::RankFinding& one :
         DescribePipeline(job_, pipelines_, stage_work_, pieces_, replay_, step_ns_))
      found.push_back(std::move(one));
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::pair(IsPlayed(a), a.saved_ns()) > std::pair(IsPlayed(b), b.saved_ns());
    });
    for (proto::RankFinding& one : found) *to.add_findings() = std::move(one);
    for (const Mismatch& mismatch : matches_.mismatches) {
      if (IsLostRecord(mismatch)) continue;
      proto::RankFinding one;
      one.set_name("mismatch");
      one.set_text(mismatch.sentence);
      *to.add_findings() = std::move(one);
      if (to.findings_size() > kMaxMismatches) break;
    }
  }

  void Groups(proto::Ranks& to) const {
    for (const ParallelGroups& found : uses_) {
      proto::ParallelGroups& one = *to.add_groups();
      one.set_use(std::string(GroupUseName(found.use)));
      one.set_size(found.size);
      one.set_count(static_cast<int>(found.count));
      // Point to point, without communicators.
      if (found.use == GroupUse::kPipeline && found.size == 0 && pipelines_.stages > 1) {
        one.set_size(static_cast<int>(pipelines_.stages));
        one.set_count(static_cast<int>(pipelines_.pipelines));
      }
      if (found.one_host) one.set_one_host(*found.one_host);
      for (const GroupMember& member : matches_.groups[found.groups.front()].members)
        one.add_rows(static_cast<int>(member.summary));
      one.set_operations(found.operations);
      one.set_bytes(found.bytes);
      one.set_communication_ns(Whole(found.communication_ns));
      one.set_exposed_ns(Whole(found.exposed_ns));
    }
  }

  void Pipeline(proto::Pipeline& to) const {
    to.set_stages(static_cast<int>(pipelines_.stages));
    to.set_pipelines(static_cast<int>(pipelines_.pipelines));
    if (pipelines_.micro_batches > 0)
      to.set_micro_batches(static_cast<int>(pipelines_.micro_batches));
    if (pipelines_.step_ns > 0) to.set_bubble_share(pipelines_.bubble_share());
    if (const auto ideal = pipelines_.ideal_bubble_share()) to.set_ideal_share(*ideal);
    for (const double own : stage_work_) to.add_stage_own_ns(Whole(own));
  }

  const Job& job_;
  RankMatches matches_;
  ClockAlignment clocks_;
  JobWaits waits_;
  JobSteps steps_;
  std::vector<OwnTime> own_;
  Pipelines pipelines_;
  WorkTable work_;
  std::vector<double> stage_work_;
  std::vector<ParallelGroups> uses_;
  LinkRates rates_;
  WorkPieces pieces_;
  JobReplay replay_;
  double step_ns_ = 0;  // mean of the regular steps over the ranks; 0: there are none
};

}  // namespace

proto::Ranks AnalyzeJob(const Job& job, const JobAnalysisOptions& options) {
  proto::Ranks ranks = JobAnalysis(job).Write(options);
  MakePrintable(ranks);
  return ranks;
}

}  // namespace traceinject
