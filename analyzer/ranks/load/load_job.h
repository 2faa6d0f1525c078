// SPDX-License-Identifier: Apache-2.0
// A job of any number of ranks: recordings are read one after the other, summarized, and let go, so
// that memory holds a few of them at a time and the summaries of all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/common/stop_flag.h"
#include "analyzer/import/load/read_files.h"
#include "analyzer/ranks/load/combine_job.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

struct JobOptions {
  unsigned threads = 0;  // 0: one a processor that there is
  // Recordings are held back while those being read are thought to take more; one is always read.
  // 0: half of the memory that there is (available_resources.h).
  std::uint64_t memory_bytes = 0;
  unsigned processes = 1;  // of this kind that share the machine: a 0 above is for all of them
  StopFlag stop = nullptr;
  // As LoadOptions::on_progress.
  std::function<void(const LoadProgress&)> on_progress = {};
};

// How ReadFiles reads them within the memory that the options allow.
ReadOptions ReadingWithin(const JobOptions& options, const std::vector<std::string>& files);

// Reads and summarizes recordings and summary files, in the order given. What cannot be read is an
// error in its place.
std::vector<SummarizedFile> SummarizeFiles(const std::vector<std::string>& files,
                                           const JobOptions& options);

// Resolves `paths` (see run_paths.h; summary files count, too), summarizes, and combines (see
// combine_job.h). Error: nothing could be read, or it was stopped.
Result<Job> LoadJob(const std::vector<std::string>& paths, const JobOptions& options);

}  // namespace traceinject
