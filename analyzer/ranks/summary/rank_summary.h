// SPDX-License-Identifier: Apache-2.0
// What one GPU of one recorded process tells the analysis across ranks: its operations on every
// communicator, its steps, its largest kernels, and how its recording ended. A few bytes for each
// collective and step and nothing for other events, so that the summaries of thousands of ranks are
// held at once. Made from a Rank (summarise_rank.h) or read from a file (summary_file.h);
// everything in this folder reads summaries and nothing else, wherever they came from.
//
// Units and convention: int64 nanoseconds on the rank's own clock relative to Job::base_ns;
// half-open intervals. Clocks of ranks differ until align_clocks.h has found by how much.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/metrics/idle/host_timeline.h"
#include "analyzer/metrics/links/rank_link.h"
#include "analyzer/model/run.h"

namespace traceinject {

// What an operation does: equal on all ranks that take part in it, or they do not mean the same.
struct OperationKind {
  std::string function;                       // AllReduce, Send, Recv, Send+Recv, ... as NcclLaunch
  std::int64_t bytes = -1;                    // S of nccl-tests; -1: unknown
  std::string algorithm = {}, protocol = {};  // RING, SIMPLE, ...; empty: NCCL did not tell

  bool operator==(const OperationKind&) const = default;
};

// What a rank did on one communicator, by start. NCCL carries out the operations on a communicator
// in the order in which they were issued.
struct GroupOperations {
  std::uint64_t hash = 0;  // the same on all ranks of the communicator; 0: unknown
  int life = 0;            // counts communicators of this hash, one after the other
  int size = 0;            // ranks in it; 0: unknown
  int rank = -1;           // own rank in it; -1: unknown
  int nodes = -1;          // hosts that its ranks are on; -1: unknown
  std::string name;        // given by the program; empty: none
  NcclTransport way =
      NcclTransport::kUnknown;  // the slowest by which NCCL connected this rank in it
  double network_gb_per_s = 0;  // of the adapters that this rank sends by; 0: not known
  // One row an operation.
  std::vector<TimeNs> start, end;      // of its kernels
  std::vector<TimeNs> launch;          // beginning of the call that launched it; kOpen: unknown
  std::vector<TimeNs> exposed_ns;      // of [start, end), while no other kernel ran on the GPU
  std::vector<TimeNs> blocked_ns;      // of that, the part that lasts until the end
  std::vector<std::uint32_t> kind;     // index into RankSummary::kinds
  std::vector<std::int32_t> peer;      // rank in the communicator of a Send or Recv; -1: none
  std::vector<std::int64_t> sequence;  // NCCL's number of it; -1: not reported
  std::vector<std::uint32_t> step;     // index into RankSummary::steps in which it begins; kNone

  std::size_t count() const { return start.size(); }
};

// A step as this GPU saw it, split exactly: the parts and idle_ns add up to its length.
struct StepFacts {
  Interval time;
  bool regular = true;  // neither warm-up nor irregular
  TimeNs compute_ns = 0, exposed_communication_ns = 0, exposed_copy_ns = 0, unrecorded_ns = 0;
  std::array<TimeNs, kIdleCauses> idle_ns{};
  std::int64_t kernels = 0;  // that begin in it and do not communicate
};

// A line of the program, and the part of a time that is at it.
struct LineFacts {
  std::string place;  // "train.py:41 in load_batch"
  TimeNs ns = 0;

  bool operator==(const LineFacts&) const = default;
};

// What a kernel works on: the matrix product that it was launched for; where that is not known, how
// it was launched.
struct WorkShape {
  std::array<std::int64_t, 4> product{};  // m, n, k and batch; 0: not known
  std::array<std::int32_t, 6> launch{};   // grid and block

  auto operator<=>(const WorkShape&) const = default;
};

// Kernels of one name and shape.
struct ShapeFacts {
  WorkShape shape;
  std::int64_t count = 0;
  TimeNs total_ns = 0;
  std::vector<LineFacts> lines;  // that launched them: of total_ns, the largest, at most kMaxLines

  bool operator==(const ShapeFacts&) const = default;
};

// Kernels of one name that do not communicate, in the regular steps.
struct KernelFacts {
  std::string name;
  std::int64_t count = 0;
  TimeNs total_ns = 0, median_ns = 0;
  std::int64_t blocks = 0;         // thread blocks of a launch, the mean; 0: unknown
  std::vector<ShapeFacts> shapes;  // of all kernels the largest, at most kMaxShapeFacts
};

// What a rank computes, operation by operation, where the source tells of it: the passes of each
// micro-batch, the step of the optimizer. By start, one after the other. Empty: it tells of kernels
// instead.
struct WorkOperations {
  std::vector<TimeNs> start, end;
  std::vector<std::uint32_t> kind;        // index into RankSummary::work_kinds
  std::vector<std::int32_t> micro_batch;  // -1: of none
  std::vector<std::uint32_t> step;        // index into RankSummary::steps in which it begins; kNone

  std::size_t count() const { return start.size(); }
};

// An operation that the process had begun and that no kernel ended, at the end of its recording.
struct HungFacts {
  std::uint64_t hash = 0;
  std::string function;
  std::int64_t bytes = -1, sequence = -1;
  TimeNs since = 0;  // the call on the host began
};

struct RankSummary {
  // Who it is.
  std::string path, host, run_id, gpu;  // gpu: its name
  int rank = -1;                        // global; -1: not a job of ranks
  int world_size = 0, local_rank = -1;  // 0, -1: unknown
  std::int64_t pid = 0;
  int device = 0;  // CUDA ordinal in the process
  int stage = -1;  // of the pipeline, from 0, as the source tells it; -1: it does not
  // How the recording went.
  bool closed = true;         // false: killed, or still running
  TimeNs start = 0, end = 0;  // of the recording
  // As Rank::clock_shift and clock_drift: what a merged file has been moved by already.
  TimeNs clock_shift = 0;
  double clock_drift = 0;
  std::int64_t dropped = 0;  // records that were lost, of all kinds
  // What it did.
  std::vector<StepFacts> steps;
  std::vector<OperationKind> kinds;     // each once
  std::vector<GroupOperations> groups;  // by (hash, life)
  std::vector<KernelFacts> kernels;     // the largest by total_ns, at most kMaxKernelFacts
  std::vector<std::string> work_kinds;  // "forward", "backward", each once
  WorkOperations work;

  // Whether it comes from a timeline of operations.
  bool tells_operations() const { return work.count() > 0; }

  std::vector<HungFacts> hung;    // in order of `since`
  double nvlink_gb_per_s = 0;     // of the GPU, in one direction; 0: none, or not known
  std::string host_link;          // between GPU and host: "PCIe 5.0 x16"; empty: not known
  double host_link_gb_per_s = 0;  // published, in one direction
  // Of the time of its work beside communication, what it would not take alone (lost_beside.h).
  double lost_beside_communication = 0;
  // What the host needs for a regular step, its waits for the GPU left out: the mean; 0: not known.
  TimeNs host_step_ns = 0;
  // Of that, what recording adds at the launches of the step (recorder_cost.h); 0: not known.
  TimeNs recording_step_ns = 0;
  // Of a mean regular step, by time, at most kMaxHostLines: where the thread that launches stood,
  // and what the workers of data loaders did while it waited for them. Empty: no stacks were
  // recorded.
  std::vector<LineFacts> host_lines, worker_lines;
  // NAME=VALUE of what the environment told NCCL about ways, algorithms and channels.
  std::vector<std::string> nccl_settings;
  // From the first regular step to the last; -1: not sampled.
  double busy_sm_clock_mhz = -1;  // mean over the time in which the GPU was busy
  double throttled_share = -1;    // of that time, slowed down by heat or power
};

// False where a host is not known: traces of torch.profiler do not report theirs.
inline bool AreOnOneHost(const RankSummary& a, const RankSummary& b) {
  return !a.host.empty() && a.host == b.host;
}

inline constexpr std::size_t kMaxKernelFacts = 64, kMaxShapeFacts = 128;
inline constexpr std::size_t kMaxLines = 4, kMaxHostLines = 64;

// All that was recorded of one attempt of a job, by (rank, device).
struct Job {
  std::int64_t base_ns = 0;  // CLOCK_REALTIME of time 0, ns since the epoch
  std::vector<RankSummary> ranks;
  std::vector<std::string> notes;  // what was left out, in sentences
};

}  // namespace traceinject
