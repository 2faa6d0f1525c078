// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/load/load_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "analyzer/import/open/run_paths.h"
#include "analyzer/import/source/timeline_file.h"
#include "analyzer/ranks/summary/check_summary.h"
#include "analyzer/ranks/summary/summarise_rank.h"
#include "analyzer/ranks/summary/summary_file.h"
#include "analyzer/ranks/timeline/read_timeline.h"
#include "machine/available_resources.h"

namespace traceinject {
namespace {

// What a recording takes in memory while it is read, for each byte of its file: three were measured
// of recordings of 5 MB. A compressed one is two to three times as large when unpacked.
constexpr std::uint64_t kBytesOfByte = 5, kBytesOfPackedByte = 15;

std::uint64_t MemoryOf(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return 0;
  const bool packed = path.ends_with(".zst") || path.ends_with(".gz");
  return size * (packed ? kBytesOfPackedByte : kBytesOfByte);
}

Result<Job> Summarize(RecordedFile file) {
  Job job;
  job.base_ns = file.base_ns;
  job.notes = std::move(file.notes);
  for (const Rank& rank : file.ranks) {
    std::vector<RankSummary> summaries = SummarizeRank(rank);
    if (summaries.empty())
      job.notes.push_back(fmt::format("{}: no GPU work was recorded", rank.path));
    std::move(summaries.begin(), summaries.end(), std::back_inserter(job.ranks));
  }
  if (const Status checked = CheckJob(job); !checked.ok())
    return Error{fmt::format("{}, so this rank cannot be analyzed", checked.error())};
  return job;
}

Result<Job> SummarizeFile(const std::string& path, ReadProgress& progress) {
  try {
    if (IsSummaryFile(path)) return ReadSummaryFile(path);
    if (IsTimeline(path)) return ReadTimeline(path, progress);
    auto file = ReadRecording(path, progress);
    if (!file.ok()) return Error{file.error()};
    return Summarize(std::move(file).value());
  } catch (const std::bad_alloc&) {
    return Error{fmt::format("{}: not enough memory to summarize it", path)};
  }
}

}  // namespace

ReadOptions ReadingWithin(const JobOptions& options, const std::vector<std::string>& files) {
  ReadOptions reading{.stop = options.stop, .on_progress = options.on_progress};
  const unsigned processes = std::max(1u, options.processes);
  // Each has processors of its own, or they share all that the machine has.
  const unsigned share = std::max(1u, std::thread::hardware_concurrency() / processes);
  reading.threads =
      options.threads != 0 ? options.threads : std::min(share, CountAvailableProcessors());
  for (const std::string& file : files) reading.needs.push_back(MemoryOf(file));
  reading.most_bytes = options.memory_bytes != 0
                           ? options.memory_bytes
                           : static_cast<std::uint64_t>(AvailableMemoryBytes()) / 2 / processes;
  return reading;
}

std::vector<SummarizedFile> SummarizeFiles(const std::vector<std::string>& files,
                                           const JobOptions& options) {
  const ReadOptions reading = ReadingWithin(options, files);
  std::vector<std::optional<Result<Job>>> jobs(files.size());
  ReadFiles(files.size(), reading, [&](std::size_t file, ReadProgress& progress) {
    jobs[file].emplace(SummarizeFile(files[file], progress));
  });
  std::vector<SummarizedFile> summarized;
  for (std::size_t i = 0; i < files.size(); ++i)
    summarized.push_back({files[i], jobs[i] ? *std::move(jobs[i]) : Stopped(files[i])});
  return summarized;
}

Result<Job> LoadJob(const std::vector<std::string>& paths, const JobOptions& options) {
  auto named = ResolveRunPaths(paths, PathsTo::kRecordingsOrSummaries);
  if (!named.ok()) return Error{named.error()};
  std::vector<SummarizedFile> files = SummarizeFiles(named.value().files, options);
  if (IsStopped(options.stop)) return Stopped(named.value().files.front());
  return CombineJob(std::move(files), std::move(named.value().notes));
}

}  // namespace traceinject
