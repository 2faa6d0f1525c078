// SPDX-License-Identifier: Apache-2.0
// For tests: a small recording with something of everything, as the viewer loads it.
#pragma once

#include <memory>
#include <string>

#include "analyzer/import/testing/run_db_fixture.h"
#include "analyzer/merge/testing/job_files.h"
#include "analyzer/model/testing/units.h"
#include "machine/testing/temporary_folder.h"
#include "viewer/core/load/background_load.h"

namespace traceinject {

// Rank 0. Stream 7: twenty launched kernels of 50 us every 100 us from 1 ms on, the third
// overlapped by a fourth that begins early. Stream 13: a collective's kernel over kernels 6 to 9,
// and a copy of 1 MB before all. Thread 4242: nested NVTX ranges, a mark, an AllReduce call. 1 ms
// at the end was not recorded.
inline void WriteSampleRun(const std::string& path) {
  RunDbFixture file(path, {.rank = 0, .local_rank = 0, .world_size = 2, .end_ns = 5 * kMs});
  file.AddDevice({});
  file.AddMemcpy({.start_ns = 900 * kUs, .dur_ns = 50 * kUs, .bytes = 1'000'000, .stream = 13});
  for (int i = 0; i < 20; ++i) {
    const TimeNs start = kMs + i * 100 * kUs - (i == 3 ? 60 * kUs : 0);
    file.AddLaunchedKernel(
        {.start_ns = start,
         .dur_ns = 50 * kUs,
         .name = i % 2 == 0 ? "void ns::sgemm_kernel<float>(float*)" : "layer_norm",
         .grid = {64, 2, 1}},
        start - 90 * kUs, 5 * kUs);
  }
  const auto group = file.AddCommunicator({.size = 2, .rank = 0, .device = 0});
  file.AddKernel({.start_ns = 1'600 * kUs,
                  .dur_ns = 400 * kUs,
                  .name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                  .stream = 13});
  file.AddCollective(
      {.start_ns = 1'500 * kUs, .dur_ns = 20 * kUs, .bytes = 4'096, .communicator = group});
  file.AddNvtx({.start_ns = 800 * kUs, .dur_ns = 3 * kMs, .text = "step"});
  file.AddNvtx({.start_ns = 900 * kUs, .dur_ns = kMs, .text = "forward"});
  file.AddNvtx({.start_ns = 2 * kMs, .dur_ns = 0, .text = "mark", .kind = NvtxKind::kMark});
  file.AddGap(4 * kMs, kMs, "max_size");
  file.Close();
}

// A kernel, and a look at line 41 of data.py every 100 us, from 1 ms on for 2 ms.
inline void WriteRunWithCode(const std::string& path) {
  RunDbFixture file(path, {.end_ns = 5 * kMs});
  file.AddDevice({});
  file.AddLaunchedKernel({.start_ns = kMs, .dur_ns = 50 * kUs}, 900 * kUs, 5 * kUs);
  for (int i = 0; i < 20; ++i)
    file.AddStackSample({.time_ns = kMs + i * 100 * kUs, .frames = {{"load", "/w/data.py", 41}}});
  file.Close();
}

// Two ranks of one host with an AllReduce every 10 ms, from 1 ms on rank 0, from 2 ms on rank 1, to
// 8 ms on both: rank 1 holds rank 0 up. The files are those that the path stands for.
inline void WriteRunOfTwoRanks(const std::string& path) {
  const std::string stem = path.substr(0, path.rfind('.'));
  for (int rank = 0; rank < 2; ++rank)
    WriteRank(stem + ".rank0000" + std::to_string(rank) + ".db", {.rank = rank}).Close();
}

// Throws if it cannot be read.
inline std::unique_ptr<const LoadedRun> LoadRunOfTwoRanks() {
  const TemporaryFolder folder;
  WriteRunOfTwoRanks(folder / "run.db");
  LoadResult loaded = LoadWithRows({folder / "run.db"}, {});
  if (!loaded.ok()) throw std::runtime_error(loaded.error());
  return std::move(loaded).value();
}

// Throws if it cannot be read.
inline std::unique_ptr<const LoadedRun> LoadSampleRun() {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "run.db").string();
  WriteSampleRun(path);
  LoadResult loaded = LoadWithRows({path}, {});
  if (!loaded.ok()) throw std::runtime_error(loaded.error());
  return std::move(loaded).value();
}

}  // namespace traceinject
