// SPDX-License-Identifier: Apache-2.0
// Ranks that the others wait for: always the same ones (stragglers), or now this, now that
// (imbalance), why, and what a step would take without.
//
// A rank's excess in a step is its own time (own_time.h) minus what its peers usually take
// (work_table.h): clock-free, and free of what it waited for others. A straggler has an excess of
// kMinExcessShare of the step on average, with its 95 % interval above half of that, and is late
// (half of that or more) in most steps, far more often than the ranks that are no suspects. Where
// nobody is, but the rank with most to do costs the step kMinImbalanceShare over the mean, the
// work is uneven from step to step: sequence lengths, experts, garbage collections.
//
// A rank whose host is late, but takes no longer for a step than those of its peers, is none: all
// are bound by their hosts, and while its peers wait for it theirs run ahead.
//
// What a rank does in a spell of slowness (slow_spells.h) is no imbalance.
//
// What they cost is played (job_replay.h): stragglers with their peers' usual time, all suspects of
// one host at once; imbalance with every rank at the mean of its peers. Where the pieces of the
// work are known (work_pieces.h) each piece takes the mean of those of its kind, on all ranks of
// the stage, so that long sequences count wherever they fall.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/metrics/idle/host_timeline.h"
#include "analyzer/ranks/causes/work_table.h"
#include "analyzer/ranks/differences/work_differences.h"
#include "analyzer/ranks/replay/job_replay.h"
#include "analyzer/ranks/replay/work_pieces.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

inline constexpr double kMinExcessShare = 0.02;
inline constexpr double kMinImbalanceShare = 0.05;
// Of the time that its host needs for a step: hosts of like processes on one machine were seen to
// differ by 8 % (tests/gpu/results/ranks.md).
inline constexpr double kMinHostExcessShare = 0.1;
inline constexpr TimeNs kMinExcessNs = 200'000;  // below, nobody would look

// With fewer regular steps nothing is said of what persists and what varies.
inline constexpr std::size_t kMinJobSteps = 5;

// What a step would get back.
struct JobSaving {
  double ns = 0, low_ns = 0, high_ns = 0;  // of a mean step; 95 %: bootstrap over steps
};

// Of the recorded and played steps. O(steps).
JobSaving SavingOf(const JobReplay& replay, const JobChange& change);
// Of steps of these lengths over those.
JobSaving SavingBetween(const std::vector<double>& before, const std::vector<double>& after);

class SpellSteps;

// What a straggler does longer than its peers.
enum class Slowness : std::uint8_t {
  kSlowerGpu,  // the same kernels take longer
  kMoreWork,   // it runs more kernels, or larger ones
  kHost,       // its GPU is idle longer: see idle_cause
};

struct Straggler {
  std::vector<std::size_t> summaries;  // several: all of one host
  std::size_t slowest = 0;             // of these
  double excess_ns = 0;                // mean over regular steps, of the slowest
  double late_share = 0;               // of the regular steps
  Slowness slowness = Slowness::kHost;
  IdleCause idle_cause = IdleCause::kUnknown;  // kHost
  // Of the excess, ns a step: computing and copying longer, and idle longer, by cause.
  double compute_ns = 0, idle_ns = 0;
  double host_ns = 0, peers_host_ns = 0;  // RankSummary::host_step_ns
  double kernel_ratio = 1;        // how long its kernels take against the peers', same names
  double kernel_count_ratio = 1;  // how many it runs a step
  // Of the time of its kernels: in those that it launches larger (more thread blocks) than its
  // peers do those of the same name.
  double larger_share = 0;
  // Of the kernels of the GPU, by its clock: -1: not sampled.
  double clock_mhz = -1, peers_clock_mhz = -1;
  // Of the slowest: by the GPU the kernels that make the difference, else the lines.
  std::vector<KernelDifference> kernels;
  std::vector<LineDifference> lines;
  JobSaving saving;
};

struct Imbalance {
  bool found = false;
  double excess_ns = 0;      // mean over steps: most to do minus the mean of the peers
  std::size_t culprits = 0;  // ranks that had most to do in some step
  // Of the pieces of work, over the mean of their kind: the middle nine tenths of the time that
  // they take lie between these; 0: no pieces are known.
  double shortest = 0, longest = 0;
  // Between the passes forward and backward of a micro-batch; empty: it is not known which those
  // are.
  std::optional<double> correlation = {};
  JobSaving saving;
};

struct Skew {
  std::vector<Straggler> stragglers;  // by saving, the largest first
  Imbalance imbalance;
};

// O(ranks x steps + plays x rows).
Skew FindSkew(const Job& job, const JobSteps& steps, const WorkTable& work,
              const WorkPieces& pieces, const SpellSteps& spells, const JobReplay& replay);

}  // namespace traceinject
