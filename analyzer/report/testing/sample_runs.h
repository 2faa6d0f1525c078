// SPDX-License-Identifier: Apache-2.0
// Runs with known figures for the tests of the report writers.
#pragma once

#include <string>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {

// A rank of two that trains for three steps of 10 ms: loading, a copy, a layer, an all-reduce that
// half overlaps it, an optimizer. `late_ns`: how much later than the other this rank reaches the
// all-reduce.
inline Rank SampleRank(int number, TimeNs late_ns) {
  RankBuilder builder;
  Rank& rank = builder.rank();
  rank.path = "run.rank0000" + std::to_string(number) + ".db";
  rank.rank = number;
  rank.process.pid = 4000 + number;
  rank.process.world_size = 2;
  rank.health = {{"kernel", "seen", 9, ""}, {"kernel", "stored", 9, ""}, {"nvtx", "seen", 3, ""}};
  const std::uint32_t communicator = builder.AddCommunicator(2, number, 0);
  for (int step = 0; step < 3; ++step) {
    const TimeNs t = step * 10 * kMs;
    builder.AddRange({t, t + 9 * kMs, "step " + std::to_string(step)});
    builder.AddRange({t + 100 * kUs, t + 1 * kMs, "DataLoader"});
    const std::uint32_t copy = builder.AddApi(t + 1 * kMs, t + 1010 * kUs, "cudaMemcpyAsync");
    const std::uint32_t layer = builder.AddApi(t + 1020 * kUs, t + 1030 * kUs, "cudaLaunchKernel");
    builder.AddCall({t + 1100 * kUs, t + 1200 * kUs, "AllReduce", 8 << 20, communicator});
    const std::uint32_t reduce =
        builder.AddApi(t + 1150 * kUs, t + 1160 * kUs, "cudaLaunchKernelExC");
    const std::uint32_t update = builder.AddApi(t + 1300 * kUs, t + 1310 * kUs, "cudaLaunchKernel");
    builder.AddApi(t + 1400 * kUs, t + 9 * kMs, "cudaStreamSynchronize");
    builder.AddCopy(t + 1020 * kUs, t + 2020 * kUs,
                    {.bytes = 25'000'000, .kind = 1, .src_kind = 2, .dst_kind = 3, .async = true},
                    copy);
    builder.AddKernel(t + 2020 * kUs, t + 6 * kMs + late_ns,
                      "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn", layer, 0, 64);
    builder.AddKernel(t + 5 * kMs + late_ns, t + 8 * kMs,
                      "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                      reduce, 0, 24);
    builder.AddKernel(
        t + 8 * kMs, t + 8500 * kUs,
        "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4> >(int)", update,
        0, 320);
  }
  return rank;
}

inline Run SampleRun() {
  Run run;
  run.base_ns = 1'785'585'600'000'000'000;  // 2026-08-01 12:00:00 UTC
  run.ranks = {SampleRank(0, 0), SampleRank(1, 1'000'000)};
  return run;
}

// One process without ranks on a GPU that no table knows; launches were not recorded, records were
// lost, it was killed.
inline Run DamagedRun() {
  RankBuilder builder;
  Rank& rank = builder.rank();
  rank.devices[0].name = "Some GPU";
  rank.process.pid = 77;
  rank.closed = false;
  rank.health = {{"buffers", "exhausted", 3, ""},
                 {"kernel", "dropped", 2, ""},
                 {"kernel", "seen", 1000, ""},
                 {"newer", "counter", 5, ""}};
  rank.gaps = {{2'000'000, kOpen, "max_size"}};
  builder.AddKernel(0, 1'000'000, "mystery_kernel");
  builder.AddKernel(1'500'000, 2'500'000,
                    "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
  Run run;
  run.base_ns = 1'785'585'600'000'000'000;
  run.ranks = {rank};
  run.notes = {"run.db: 2 rows of kernel pointed at names that are missing; they were left out."};
  return run;
}

}  // namespace traceinject
