// SPDX-License-Identifier: Apache-2.0
// A training program on one GPU, played by the rules of CUDA: launches are asynchronous, waits are
// not. Its length with and without a planted cause is the truth that a predicted saving must meet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {

struct PlannedKernel {
  std::string name;
  TimeNs length_ns = 0;
  std::optional<GemmShape> product = std::nullopt;
  std::int32_t grid_x = 1;
};

struct TrainingPlan {
  int steps = 40;
  int layers = 10, kernels = 8;      // kernels of a layer
  TimeNs kernel_ns = 250'000;        // 20 ms a step
  std::vector<PlannedKernel> layer;  // its kernels instead of those; empty: those
  double pace = 1;                   // of the host: what it does takes so many times as long
  TimeNs python_ns = 10'000, call_ns = 4'000;  // per launch
  TimeNs latency_ns = 6'000;                   // from the call to an idle GPU
  TimeNs pause_ns = 1'000;                     // of the GPU between operations that are queued
  TimeNs shuffle_ns = 0;                       // a copy within the GPU's memory after each layer
  TimeNs recorder_ns = 0;                      // that recording adds to each launch of a kernel
  TimeNs load_ns = 0;                          // in next(loader)
  bool record_loading = true;                  // false: a loader that nothing reports
  int items_per_step = 0;                      // .item() after so many of the layers
  TimeNs fetch_ns = 0;                         // of Python, for each of these, half before its copy
  int allocations_per_step = 0;                // cudaFree and cudaMalloc after so many of them
  TimeNs free_ns = 300'000, malloc_ns = 200'000;
  std::int64_t upload_bytes = 0;                 // from the host, at the start of each step
  double pageable_rate = 6, pinned_rate = 50.4;  // bytes per nanosecond
  bool pinned = false;
  int checkpoint_every = 0, collect_every = 0;
  TimeNs checkpoint_ns = 0, collect_ns = 0;
  std::vector<int> collect_in;  // these steps, too
  // After so many steps so many batches are evaluated, each after a wait for its data, by the first
  // kernel of a layer.
  int evaluate_every = 0, evaluated_batches = 0;
  TimeNs evaluate_load_ns = 0;
  int epoch_every = 0;  // so many steps later the loader's workers start again, which takes so long
  TimeNs epoch_ns = 0;
  TimeNs communication_ns = 0;  // after the layers, nothing beside it
  bool marks = true;            // optimizer steps are recorded
};

class SimulatedTraining {
 public:
  explicit SimulatedTraining(const TrainingPlan& plan, std::uint64_t seed = 1)
      : plan_(plan), random_(seed) {
    Slow();
    builder_.rank().devices[0].cc_major = 9;
    builder_.rank().devices[0].sm_count = 132;
    builder_.rank().devices[0].sm_clock_khz = 1'980'000;
    builder_.rank().health = {{"kernel", "seen", 1, ""}, {"kernel", "stored", 1, ""}};
    for (int step = 0; step < plan_.steps; ++step) Step(step);
    builder_.rank().end = std::max(host_, gpu_);
  }

  Rank& rank() { return builder_.rank(); }
  // The mean step, from the end of the work of the first to that of the last.
  double step_ns() const { return static_cast<double>(last_end_ - first_end_) / (plan_.steps - 1); }

 private:
  // The host computes all this; what it reads from disks or memory takes as long as ever.
  void Slow() {
    for (TimeNs* host : {&plan_.python_ns, &plan_.call_ns, &plan_.load_ns, &plan_.fetch_ns,
                         &plan_.free_ns, &plan_.malloc_ns, &plan_.checkpoint_ns, &plan_.collect_ns})
      *host = static_cast<TimeNs>(plan_.pace * static_cast<double>(*host));
    plan_.pageable_rate /= plan_.pace;
  }
  TimeNs Slowed(TimeNs length) const {
    return static_cast<TimeNs>(plan_.pace * static_cast<double>(length));
  }

  // Within 5 % of the length.
  TimeNs About(TimeNs length) {
    if (length == 0) return 0;
    return length + static_cast<TimeNs>(random_() % static_cast<std::uint64_t>(length / 10 + 1)) -
           length / 20;
  }
  TimeNs StartOf(TimeNs called) const {
    return std::max(gpu_ + plan_.pause_ns, called + plan_.latency_ns);
  }

  void Kernel(TimeNs length) { Kernel({"ampere_bf16_s16816gemm_bf16", length}); }
  void Kernel(const PlannedKernel& kernel) {
    host_ += About(plan_.python_ns);
    if (kernel.product) builder_.AddGemm(host_, host_ + plan_.call_ns, *kernel.product);
    const std::uint32_t call = builder_.AddApi(host_, host_ + plan_.call_ns, "cudaLaunchKernel");
    const TimeNs start = StartOf(host_);
    gpu_ = start + About(kernel.length_ns);
    builder_.AddKernel(start, gpu_, kernel.name, call, 0, kernel.grid_x);
    host_ += plan_.call_ns + plan_.recorder_ns;
  }
  void Item() {
    host_ += plan_.python_ns + plan_.fetch_ns / 2;
    const std::uint32_t call = builder_.AddApi(host_, host_, "cudaMemcpyAsync");
    const TimeNs start = StartOf(host_);
    gpu_ = start + 1'500;
    builder_.AddCopy(start, gpu_, {.bytes = 4, .kind = 2, .src_kind = 3, .dst_kind = 1}, call);
    host_ = gpu_ + Slowed(3'000);
    builder_.rank().api.end.Set(call, host_);
    builder_.AddApi(host_ + Slowed(500), host_ + Slowed(3'000), "cudaStreamSynchronize");
    host_ += Slowed(4'000) + plan_.fetch_ns / 2;
  }
  void Download(TimeNs length) {
    const std::uint32_t call = builder_.AddApi(host_, host_, "cudaMemcpyAsync");
    const TimeNs start = StartOf(host_);
    gpu_ = start + length;
    builder_.AddCopy(start, gpu_, {.bytes = length, .kind = 2, .src_kind = 3, .dst_kind = 1}, call);
    host_ = gpu_ + 2'000;
    builder_.rank().api.end.Set(call, host_);
  }
  void Allocate() {
    const TimeNs freed = std::max(host_, gpu_) + plan_.free_ns;
    builder_.AddApi(host_, freed, "cudaFree");
    builder_.AddApi(freed + 2'000, freed + 2'000 + plan_.malloc_ns, "cudaMalloc");
    host_ = freed + 2'000 + plan_.malloc_ns;
  }
  void Upload() {
    const std::uint32_t call = builder_.AddApi(host_, host_ + plan_.call_ns, "cudaMemcpyAsync");
    const TimeNs start = StartOf(host_);
    const double rate = plan_.pinned ? plan_.pinned_rate : plan_.pageable_rate;
    gpu_ = start + static_cast<TimeNs>(static_cast<double>(plan_.upload_bytes) / rate);
    builder_.AddCopy(start, gpu_,
                     {.bytes = plan_.upload_bytes,
                      .kind = 1,
                      .src_kind = static_cast<std::uint8_t>(plan_.pinned ? 2 : 1),
                      .dst_kind = 3,
                      .async = true},
                     call);
    host_ = plan_.pinned ? host_ + plan_.call_ns : gpu_;
    builder_.rank().api.end.Set(call, host_);
  }
  void Shuffle() {
    host_ += plan_.python_ns;
    const std::uint32_t call = builder_.AddApi(host_, host_ + plan_.call_ns, "cudaMemcpyAsync");
    const TimeNs start = StartOf(host_);
    gpu_ = start + plan_.shuffle_ns;
    builder_.AddCopy(
        start, gpu_,
        {.bytes = plan_.shuffle_ns, .kind = 8, .src_kind = 3, .dst_kind = 3, .async = true}, call);
    host_ += plan_.call_ns;
  }
  bool Among(int layer, int count) const {
    return count > 0 && layer * count / plan_.layers != (layer + 1) * count / plan_.layers;
  }

  void Step(int step) {
    if (plan_.load_ns > 0) {
      const TimeNs until = host_ + About(plan_.load_ns);
      if (plan_.record_loading) builder_.AddDataWait(host_, until);
      host_ = until;
    }
    if (plan_.upload_bytes > 0) Upload();
    for (int layer = 0; layer < plan_.layers; ++layer) {
      for (const PlannedKernel& kernel : plan_.layer) Kernel(kernel);
      for (int kernel = 0; plan_.layer.empty() && kernel < plan_.kernels; ++kernel)
        Kernel(plan_.kernel_ns);
      if (plan_.shuffle_ns > 0) Shuffle();
      if (Among(layer, plan_.items_per_step)) Item();
      if (Among(layer, plan_.allocations_per_step)) Allocate();
    }
    if (plan_.communication_ns > 0)
      Kernel({"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", plan_.communication_ns});
    if (step == 0) first_end_ = gpu_;
    if (plan_.marks) builder_.AddStepMark(host_);
    Now(step, plan_.checkpoint_every, plan_.checkpoint_ns, HostSpanKind::kCheckpoint);
    Now(step, plan_.collect_every, plan_.collect_ns, HostSpanKind::kGarbageCollection);
    if (Comes(step, plan_.evaluate_every)) Evaluate();
    if (Comes(step, plan_.epoch_every)) BeginEpoch();
    last_end_ = gpu_;
  }
  bool Comes(int step, int every) const { return every > 0 && step % every == every / 2; }
  void Evaluate() {
    for (int batch = 0; batch < plan_.evaluated_batches; ++batch) {
      const TimeNs until = host_ + About(plan_.evaluate_load_ns);
      if (until > host_) builder_.AddDataWait(host_, until);
      host_ = until;
      for (int layer = 0; layer < plan_.layers; ++layer) Kernel(plan_.layer.front());
      Item();
    }
  }
  void BeginEpoch() {
    host_ = std::max(host_, gpu_);
    builder_.rank().workers.push_back({host_, kNone, host_ + plan_.epoch_ns / 2, kOpen});
    host_ += plan_.epoch_ns;
  }
  void Now(int step, int every, TimeNs length, HostSpanKind kind) {
    const bool collects = kind == HostSpanKind::kGarbageCollection &&
                          std::count(plan_.collect_in.begin(), plan_.collect_in.end(), step) > 0;
    if (!collects && (every == 0 || step % every != every / 2)) return;
    // Saving reads the weights, so it begins by waiting for them.
    const TimeNs start = host_;
    if (kind == HostSpanKind::kCheckpoint) Download(length / 2);
    host_ += kind == HostSpanKind::kCheckpoint ? length / 2 : length;
    builder_.AddSpan(start, host_, kind, kind == HostSpanKind::kCheckpoint ? -1 : 2);
  }

  TrainingPlan plan_;
  std::mt19937_64 random_;
  RankBuilder builder_;
  TimeNs host_ = 1'000'000, gpu_ = 0;
  TimeNs first_end_ = 0, last_end_ = 0;
};

}  // namespace traceinject
