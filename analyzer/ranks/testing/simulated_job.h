// SPDX-License-Identifier: Apache-2.0
// A training job on many GPUs, played by the rules of collectives: a kernel starts when its rank
// gets there, and all end together once the last has arrived and the data has moved. What was
// planted, and every wait and transfer, is known: the truth that the analysis across ranks must
// find. For tests and benches.
//
// Chance is drawn by place (rank, step, piece of work), not in sequence, so that a job without its
// plants meets the same chance: the difference of the two is what the plant costs.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// Transfers take `factor` times as long on communicators that hold what is named.
struct SlowLink {
  int rank = -1;                     // this rank; -1: go by the hosts
  int first_host = -1, second = -1;  // both of these
  double factor = 1;
};

// A rank that was recorded in part, as shares of the job's time.
struct RecordedPart {
  int rank = -1;
  double from = 0, to = 1;
};

// A rank whose kernels take so many times as long in these steps, and no others.
struct PlannedSpell {
  int rank = -1;
  int from_step = 0, to_step = 0;  // [from, to)
  double factor = 1;
};

struct JobPlan {
  // Ranks = tensor x data x pipeline, numbered in this order as Megatron does.
  int tensor = 1, data = 8, pipeline = 1;
  int ranks_per_host = 8;  // they share a clock
  bool sharded = false;    // FSDP instead of DDP; without a pipeline only
  int steps = 30;
  int layers = 8;                 // of a stage; each has a bucket of gradients
  int micro_batches = 8;          // where there is a pipeline
  TimeNs forward_ns = 1'000'000;  // of a layer and (micro-)batch; backward takes twice that
  TimeNs optimizer_ns = 2'000'000;
  TimeNs host_ns = 200'000;            // between steps, with the GPU idle
  TimeNs launch_ahead_ns = 3'000'000;  // of the host before the GPU
  std::int64_t layer_bytes = 48 << 20, activation_bytes = 8 << 20;
  double data_rate = 60, tensor_rate = 200, pipeline_rate = 40;  // bytes of S per nanosecond
  double noise = 0.01, transfer_noise = 0.02;                    // standard deviations
  TimeNs end_noise_ns = 4'000;  // ends of one operation lie within this
  bool tell_sequences = false;  // NCCL's plugin was loaded
  // Clocks, and what recordings lack.
  TimeNs most_offset_ns = 0;
  double most_drift_ppm = 0;
  double missing = 0;  // share of the records of operations
  std::vector<RecordedPart> parts;
  // Plants.
  int straggler = -1;       // this rank
  double slow_compute = 1;  // its kernels take so many times as long, its clock is as low
  double more_work = 1;     // it has so many times as many kernels
  TimeNs data_wait_ns = 0;  // it waits for data at the start of each step
  double imbalance = 0;     // in each step a replica drawn anew has so much more work (0.3: 30 %)
  SlowLink slow_link;
  std::vector<PlannedSpell> slow_spells;
  std::vector<double> stage_work;  // of pipeline stages, relative; empty: all 1
  int contended = -1;              // on this rank, kernels of bucket operations wait for SMs
  TimeNs contention_ns = 0;        // so long, in every eighth of them
  int dead = -1;                   // this rank ends in this step; the others hang
  int dead_step = 0;

  int ranks() const { return tensor * data * pipeline; }
};

// With what recordings of a cluster have: clocks that are up to 2 s apart and drift by up to 50
// ppm, and one of a thousand records missing.
JobPlan Disturbed(JobPlan plan);
// A disturbed job of this layout, with so many ranks on each host.
JobPlan DisturbedLayout(int tensor, int data, int pipeline, int ranks_per_host);

// The same job without anything planted. Clocks and recordings stay as they are.
JobPlan Healthy(JobPlan plan);

// What truly happened to the operations of one RankSummary::groups, row by row.
struct GroupTruth {
  std::vector<std::uint32_t> operation;  // of the communicator (of the pair, of Send and Recv)
  std::vector<TimeNs> wait_ns;           // from the start to the last arrival
  std::vector<TimeNs> exposed_wait_ns;   // of this, while no other kernel ran
  std::vector<TimeNs> transfer_ns;       // from the last arrival, on all ranks alike
  std::vector<bool> last;                // arrived last
};

struct RankTruth {
  double offset_ns = 0, drift = 0;  // its clock shows t + offset_ns + drift x t at true time t
  std::vector<GroupTruth> groups;   // as RankSummary::groups
};

struct JobTruth {
  std::vector<RankTruth> ranks;
  // Ends of the steps on the last rank to get there, in true time; the job begins at 0.
  std::vector<TimeNs> step_ends;

  TimeNs LocalTime(std::size_t rank, double true_time) const;
  // The mean step, without the first.
  double step_ns() const;
};

struct SimulatedJob {
  Job job;
  JobTruth truth;
};

SimulatedJob SimulateJob(const JobPlan& plan, std::uint64_t seed = 1);

}  // namespace traceinject
