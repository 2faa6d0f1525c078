// SPDX-License-Identifier: Apache-2.0
// A job of pipelines side by side as a monitoring system would write it (docs/formats.md), and what
// it would have taken without what was planted. For tests.
//
// Played by rules of its own, not by those of the replay: each rank goes through its list of
// instructions; a transfer begins once both ends are there and what went the same way before has
// arrived; only who receives waits for it; a collective ends once the last has come and the data
// has moved. All durations are drawn by place, so that a job without its plants meets the same
// chance.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

struct TimelinePlan {
  int data = 4, stages = 4;  // rank = stage x data + replica
  int micro_batches = 8, steps = 12;
  bool gpipe = false;             // else 1F1B
  TimeNs forward_ns = 4'000'000;  // of a stage and micro-batch; backward takes twice that
  TimeNs optimizer_ns = 3'000'000;
  TimeNs transfer_ns = 200'000;                // to the next stage
  TimeNs reduce_ns = 4'000'000;                // of the gradients of a stage
  TimeNs most_gap_ns = 20'000;                 // of the host, before each operation
  double noise = 0.02, transfer_noise = 0.05;  // standard deviations
  // Plants.
  int slow_rank = -1;
  double slow_factor = 1;          // of what it computes
  std::vector<double> stage_work;  // relative; empty: all 1
  int slow_stage = -1;             // of these
  double length_spread = 0;  // of the work of micro-batches: standard deviation of the logarithm
  // Transfers between this rank and that of the next stage; with slow_reduce: of the gradients of
  // its stage.
  int slow_link = -1;
  bool slow_reduce = false;
  double link_factor = 1;
  // Of the hosts of `ranks_per_host` ranks: clocks are off by up to so much.
  TimeNs most_offset_ns = 0;
  int ranks_per_host = 4;

  int ranks() const { return data * stages; }
  int Stage(int rank) const { return rank / data; }
};

// How long everything takes, by place.
struct TimelineDurations {
  // [step][rank][micro-batch]
  std::vector<std::vector<std::vector<double>>> forward, backward;
  // [step][rank][micro-batch]: to the stage after the rank's, and back from there.
  std::vector<std::vector<std::vector<double>>> down, up;
  std::vector<std::vector<double>> reduce;     // [step][stage]
  std::vector<std::vector<double>> optimizer;  // [step][rank]
};

// What a timeline is to be like in a what-if.
enum class WhatIf {
  kEvenMicroBatches,  // passes take their mean of a stage and step
  kEvenAll,           // passes, optimizer and transfers take their mean, whatever the stage
};

struct TimelineSpan {
  int rank = 0;
  std::string kind;
  int micro_batch = -1, peer = -1, stage_group = -1, step = 0;
  std::int64_t bytes = -1;
  TimeNs start = 0, end = 0;
};

struct PlayedTimeline {
  std::vector<TimelineSpan> spans;
  double step_ns = 0;  // the mean, without the first step
};

TimelineDurations DrawDurations(const TimelinePlan& plan, std::uint64_t seed);
TimelineDurations Changed(TimelineDurations durations, WhatIf what_if);
// `keep_spans` false: only how long steps take.
PlayedTimeline PlayTimeline(const TimelinePlan& plan, const TimelineDurations& durations,
                            std::uint64_t seed, bool keep_spans = true);

// As a file: a header, then a line a span.
std::string WriteTimeline(const TimelinePlan& plan, const PlayedTimeline& played,
                          std::uint64_t seed);

}  // namespace traceinject
