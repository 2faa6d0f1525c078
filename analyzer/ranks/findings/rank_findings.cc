// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/findings/rank_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/ranks/findings/difference_text.h"
#include "analyzer/ranks/findings/finding_text.h"
#include "analyzer/ranks/match/rank_names.h"

namespace traceinject {
namespace {

// Of passes forward and backward, from which on they vary with the sequences: as found by
// StragglerAnalysis (lost_time.h).
constexpr double kCorrelated = 0.9;

std::string OperationText(const std::string& function, std::int64_t bytes, std::int64_t sequence) {
  std::string text = function;
  if (sequence >= 0) text += fmt::format(" #{}", sequence);
  if (bytes >= 0) text += fmt::format(" of {}", FormatBytes(bytes));
  return text;
}

// Of operations: whether the GPU is slower or has more to do in each, they do not tell.
void DescribeSlowOperations(const Straggler& straggler, proto::RankFinding& to) {
  to.add_evidence(
      fmt::format("operations of the same kind take {:.2f} times as long as on its peers",
                  straggler.kernel_ratio));
  AddGpuLevers(to);
  to.add_levers("if not the GPU, the work: this rank's batch and sequence sizes, layers, experts");
}

void DescribeSlowGpu(const Straggler& straggler, proto::RankFinding& to) {
  to.add_evidence(fmt::format("kernels of the same name take {:.2f} times as long as on its peers",
                              straggler.kernel_ratio));
  if (straggler.clock_mhz > 0 && straggler.peers_clock_mhz > 0)
    to.add_evidence(fmt::format("its SM clock under load is {:.0f} MHz, its peers' {:.0f} MHz",
                                straggler.clock_mhz, straggler.peers_clock_mhz));
  AddGpuLevers(to);
  to.add_levers("run without this host (drain it) and compare");
}

}  // namespace

proto::RankFinding DescribeHang(const Job& job, const Hang& hang) {
  proto::RankFinding to;
  to.set_name("hang");
  const std::string operation = OperationText(hang.function, hang.bytes, hang.sequence);
  const std::string waiting = RankNames(job, hang.waiting);
  std::string text = fmt::format("{} {} in {} on communicator 0x{:x}", waiting,
                                 hang.waiting.size() == 1 ? "hangs" : "hang", operation, hang.hash);
  if (!hang.absent.empty())
    text += fmt::format("; {} never entered it", RankNames(job, hang.absent));
  else if (hang.not_recorded.empty())
    text += "; all ranks entered it, and it does not complete";
  if (!hang.not_recorded.empty())
    text += fmt::format(
        "; there is no recording of {} in the communicator",
        (hang.not_recorded.size() == 1 ? "rank " : "ranks ") + NumberRanges(hang.not_recorded));
  to.set_text(text + ".");
  TimeNs end = 0;
  for (const std::size_t r : hang.waiting) end = std::max(end, job.ranks[r].end);
  for (const std::size_t r : hang.absent) {
    const RankSummary& rank = job.ranks[r];
    if (to.evidence_size() == 5) break;
    const std::string name = RankName(job, r);
    if (rank.end < hang.since)
      to.add_evidence(fmt::format(
          "the recording of {} ({}) {} {} before those of the waiting ranks", name, PlaceText(rank),
          rank.closed ? "was closed" : "ended abruptly", FormatTime(end - rank.end)));
    else
      to.add_evidence(fmt::format("{} ({}) was recorded to the end and never started the operation",
                                  name, PlaceText(rank)));
  }
  if (!hang.absent.empty())
    to.add_levers("check what these ranks did last: analyze report, traceview, the job's log");
  else if (hang.all_came())
    to.add_levers("check the network and NCCL: NCCL_DEBUG=INFO, links, GPU errors (dmesg, Xid)");
  AddRows(hang.waiting, to);
  AddRows(hang.absent, to);
  return to;
}

proto::RankFinding DescribeStraggler(const Job& job, const Straggler& straggler, double step_ns) {
  proto::RankFinding to;
  const bool host = straggler.summaries.size() > 1;
  to.set_name(host ? "slow_host" : "straggler");
  const RankSummary& first = job.ranks[straggler.summaries.front()];
  const std::string who =
      host ? fmt::format("All {} ranks of host {} ({})", straggler.summaries.size(), first.host,
                         RankNames(job, straggler.summaries))
           : RankName(job, straggler.summaries.front()) + " (" + PlaceText(first) + ")";
  AddDifferences(straggler, RankName(job, straggler.slowest), to);
  const char* why = "";
  switch (straggler.slowness) {
    case Slowness::kSlowerGpu:
      if (first.tells_operations()) {
        to.set_reason("slower");
        why = "its operations take longer";
        DescribeSlowOperations(straggler, to);
        break;
      }
      to.set_reason("slower_gpu");
      why = "its GPU is slower";
      DescribeSlowGpu(straggler, to);
      break;
    case Slowness::kMoreWork:
      to.set_reason("more_work");
      why = "it has more work";
      to.add_evidence(
          fmt::format("it runs {:.2f} times as many {} per step, and they take {:.2f} times as "
                      "long as on its peers",
                      straggler.kernel_count_ratio,
                      first.tells_operations() ? "operations" : "kernels", straggler.kernel_ratio));
      if (straggler.larger_share > 0)
        to.add_evidence(
            fmt::format("kernels making up {:.0f} % of its time are larger than on its peers (more "
                        "thread blocks)",
                        100 * straggler.larger_share));
      to.add_levers("balance the work: this rank's batch and sequence sizes, layers, experts");
      break;
    case Slowness::kHost:
      to.set_reason("host");
      why = "its host is slower";
      to.add_evidence(fmt::format("its GPU is idle {} longer per step than its peers', mostly: {}",
                                  MeanTime(straggler.idle_ns),
                                  IdleCauseName(straggler.idle_cause)));
      if (straggler.host_ns > 0)
        to.add_evidence(fmt::format("its host needs {} per step, its peers' hosts {}",
                                    MeanTime(straggler.host_ns),
                                    MeanTime(straggler.peers_host_ns)));
      AddHostLevers(straggler.idle_cause, to);
      break;
  }
  to.set_text(
      fmt::format("{} delays the other ranks: {} ({} of a step more than its peers, in {:.0f} % of "
                  "the steps); without this, a step would take {} less ({}).",
                  who, why, MeanTime(straggler.excess_ns), 100 * straggler.late_share,
                  MeanTime(straggler.saving.ns), ShareText(straggler.saving.ns, step_ns)));
  SetSaving(straggler.saving, to);
  AddRows(straggler.summaries, to);
  return to;
}

proto::RankFinding DescribeImbalance(const Imbalance& imbalance, double step_ns) {
  proto::RankFinding to;
  to.set_name("imbalance");
  const std::string saved =
      fmt::format("if balanced, a step would take {} less ({}).", MeanTime(imbalance.saving.ns),
                  ShareText(imbalance.saving.ns, step_ns));
  const std::string most = fmt::format(
      "the rank with the most work takes {} longer than the mean, a different rank each step ({} "
      "ranks so far)",
      MeanTime(imbalance.excess_ns), imbalance.culprits);
  if (imbalance.longest > 0) {
    to.set_text(fmt::format(
        "The micro-batches are imbalanced: nine tenths of the passes take {:.2f} to {:.2f} times "
        "their mean; {}",
        imbalance.shortest, imbalance.longest, saved));
    to.add_evidence(most);
  } else {
    to.set_text(fmt::format("The work is imbalanced: {}; {}", most, saved));
  }
  if (imbalance.correlation && *imbalance.correlation >= kCorrelated) {
    to.set_reason("sequence_length");
    to.add_evidence(fmt::format(
        "a micro-batch that is long in its forward pass is long in its backward pass (correlation "
        "{:.2f}): its sequences are longer",
        *imbalance.correlation));
  }
  to.add_levers(
      "equal-cost batches on all ranks: sort or pack by sequence length, use bucket samplers");
  to.add_levers("synchronize less often (gradient accumulation)");
  SetSaving(imbalance.saving, to);
  return to;
}

proto::RankFinding DescribeSlowLink(const Job& job, const SlowGroups& link, double step_ns) {
  proto::RankFinding to;
  to.set_name("slow_link");
  std::string where;
  if (link.hosts.size() == 2)
    where = fmt::format("between hosts {} and {}", link.hosts[0], link.hosts[1]);
  else if (link.hosts.size() == 1)
    where = fmt::format("of host {}", link.hosts[0]);
  else if (link.size == 2 && link.ranks.size() == 2)
    where = "between " + RankNames(job, link.ranks);
  else if (!link.ranks.empty())
    where = "of " + RankNames(job, link.ranks);
  else
    where = fmt::format("of {} disjoint groups", link.groups.size());
  to.set_text(fmt::format(
      "Transfers {} are slow: {} of {} among {} ranks takes {} there and {} in the other groups "
      "({:.2f} times as long); at their speed, a step would take {} less ({}).",
      where, link.function, FormatBytes(link.bytes), link.size, MeanTime(link.transfer_ns),
      MeanTime(link.usual_ns), link.ratio(), MeanTime(link.saving.ns),
      ShareText(link.saving.ns, step_ns)));
  to.add_levers(
      "check the link: nvidia-smi nvlink -e, PCIe width and generation, NIC errors, cables");
  to.add_levers(
      "check how NCCL uses it: TRACEINJECT_NCCL_LOG=1 records transports; NCCL_IB_HCA, "
      "NCCL_SOCKET_IFNAME, P2P and GDR settings");
  SetSaving(link.saving, to);
  AddRows(link.ranks, to);
  return to;
}

proto::RankFinding DescribeSlowTransport(const Job& job, const SlowTransport& slow,
                                         double step_ns) {
  struct Way {
    const char *name, *text;
  };
  static constexpr Way kWays[] = {
      {"", ""},
      {"gpu_to_gpu", "from GPU to GPU (P2P)"},
      {"host_memory", "through host memory (SHM)"},
      {"network", "through a NIC, although they are on one host"},
      {"sockets", "through TCP sockets, although they are on one host"},
  };
  proto::RankFinding to;
  to.set_name("slow_transport");
  const Way& way = kWays[static_cast<std::size_t>(slow.way)];
  to.set_reason(way.name);
  to.set_text(fmt::format(
      "Transfers among {} are slow for their link: {} of {} runs at {:.1f} GB/s (busbw, without "
      "waiting), {:.1f} % of NVLink ({:.0f} GB/s per direction); at {:.0f} % of it, a step would "
      "take {} less ({}).",
      RankNames(job, slow.ranks), slow.function, FormatBytes(slow.bytes), slow.busbw_gb_per_s,
      100 * slow.busbw_gb_per_s / slow.link_gb_per_s, slow.link_gb_per_s, 100 * kReachedShare,
      MeanTime(slow.saving.ns), ShareText(slow.saving.ns, step_ns)));
  to.add_evidence(slow.way == NcclTransport::kUnknown
                      ? "the NCCL transport was not recorded (set TRACEINJECT_NCCL_LOG=1)"
                      : fmt::format("NCCL's log: these ranks exchange data {}", way.text));
  if (!slow.algorithm.empty())
    to.add_evidence(fmt::format("algorithm {}, protocol {}", slow.algorithm, slow.protocol));
  for (const std::string& setting : slow.settings) {
    to.add_evidence("environment: " + setting);
    to.add_levers("unset " + setting.substr(0, setting.find('=')));
  }
  to.add_levers(
      "peer access between the GPUs: nvidia-smi topo -p2p r; ACS and IOMMU off, GPUs and /dev/shm "
      "shared between the containers of a job");
  SetSaving(slow.saving, to);
  AddRows(slow.ranks, to);
  return to;
}

namespace {

// Half of the bubbles of even stages go with twice the micro-batches, of half the size: of the time
// that is no bubble nothing changes. Never more than half of those that there are once the stages
// have been evened in a play.
double SavedByTwiceTheMicroBatches(const Pipelines& pipelines, double step_ns, double saved_ns) {
  const auto stages = static_cast<double>(pipelines.stages);
  const double ideal = *pipelines.ideal_bubble_share();
  const double twice =
      (stages - 1) / (2 * static_cast<double>(pipelines.micro_batches) + stages - 1);
  const double by_formula = (step_ns - saved_ns) * (1 - (1 - ideal) / (1 - twice));
  return std::clamp(by_formula, 0.0, std::max(0.0, pipelines.bubble_ns - saved_ns) / 2);
}

JobSaving SavedByEvenStages(const Pipelines& pipelines, const std::vector<double>& stage_work,
                            double mean, const WorkPieces& pieces, const JobReplay& replay) {
  JobChange even;
  PieceFactors factors;
  if (pieces.are_told()) {
    factors = pieces.AtEvenStages();
    even.piece = [&](std::size_t rank, std::size_t piece) { return factors[rank][piece]; };
  } else {
    even.own = [&](std::size_t rank, std::size_t) {
      const std::uint32_t stage = pipelines.stage[rank];
      return stage == kNone || stage_work[stage] <= 0 ? 1 : mean / stage_work[stage];
    };
  }
  return SavingOf(replay, even);
}

void DescribeBubble(const Pipelines& pipelines, const std::string& bubbles, double saved_ns,
                    double step_ns, proto::RankFinding& to) {
  to.set_name("pipeline_bubble");
  to.set_text(fmt::format(
      "Filling and draining the pipeline costs {:.1f} % of the step; with twice as "
      "many micro-batches of half the size, a step would take up to {} less ({}).",
      100 * *pipelines.ideal_bubble_share(), MeanTime(saved_ns), ShareText(saved_ns, step_ns)));
  to.add_evidence(bubbles);
  to.add_levers("more micro-batches per step");
  to.add_levers("an interleaved or zero-bubble schedule, or fewer stages");
  to.set_saved_ns(std::llround(saved_ns));
}

}  // namespace

bool IsPlayed(const proto::RankFinding& finding) { return finding.has_saved_low_ns(); }

std::vector<proto::RankFinding> DescribePipeline(const Job& job, const Pipelines& pipelines,
                                                 const std::vector<double>& stage_work,
                                                 const WorkPieces& pieces, const JobReplay& replay,
                                                 double step_ns) {
  std::vector<proto::RankFinding> findings;
  if (pipelines.stages < 2 || step_ns <= 0) return findings;
  const double mean = std::accumulate(stage_work.begin(), stage_work.end(), 0.0) /
                      static_cast<double>(pipelines.stages);
  const JobSaving balanced = SavedByEvenStages(pipelines, stage_work, mean, pieces, replay);
  const auto slowest = std::max_element(stage_work.begin(), stage_work.end()) - stage_work.begin();
  const double bubble = pipelines.bubble_ns / step_ns;
  const std::optional<double> ideal = pipelines.ideal_bubble_share();
  const std::string bubbles =
      fmt::format("{:.1f} % of the step is pipeline bubble{}", 100 * bubble,
                  ideal ? fmt::format("; {} stages and {} micro-batches explain {:.1f} %",
                                      pipelines.stages, pipelines.micro_batches, 100 * *ideal)
                        : std::string());
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < pipelines.stage.size(); ++r) {
    if (pipelines.stage[r] == static_cast<std::uint32_t>(slowest)) rows.push_back(r);
  }
  const bool uneven = balanced.low_ns >= kMinSavedShare * step_ns;
  if (uneven) {
    proto::RankFinding& to = findings.emplace_back();
    to.set_name("pipeline_stages");
    to.set_text(fmt::format(
        "The pipeline stages are imbalanced: stage {} ({}) takes {} of own time per step, the mean "
        "is {}; if balanced, a step would take {} less ({}).",
        slowest, RankNames(job, rows), MeanTime(stage_work[static_cast<std::size_t>(slowest)]),
        MeanTime(mean), MeanTime(balanced.ns), ShareText(balanced.ns, step_ns)));
    to.add_evidence(bubbles);
    to.add_levers("move layers from this stage to others; embedding and loss count too");
    SetSaving(balanced, to);
    AddRows(rows, to);
  }
  if (!ideal || std::min(bubble, *ideal) < kMinBubbleShare) return findings;
  const double saved = SavedByTwiceTheMicroBatches(pipelines, step_ns, uneven ? balanced.ns : 0);
  if (saved > 0) DescribeBubble(pipelines, bubbles, saved, step_ns, findings.emplace_back());
  return findings;
}

}  // namespace traceinject
