// SPDX-License-Identifier: Apache-2.0
#include "analyzer/merge/merge_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyzer/import/load/read_files.h"
#include "analyzer/import/open/run_paths.h"
#include "analyzer/ranks/match/clock_account.h"
#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/match/rank_names.h"
#include "analyzer/ranks/summary/summarise_rank.h"

namespace traceinject {
namespace {

// A recording of one process.
struct Recording {
  std::string path, host, run_id;
  std::int64_t base_ns = 0;
  std::optional<int> rank;
  int world_size = 0;
  TimeNs start = 0, end = 0;
  std::vector<ClockStep> clock_steps;
  bool idle = false;  // no device did work
  Job job = {};       // its operations, a rank for each device that did work
};

Result<Recording> Describe(const std::string& path, RecordedFile file) {
  const Rank& rank = file.ranks.front();
  // Of the trace itself, there is no file to merge.
  if (rank.schema_version == 0)
    return Error{
        fmt::format("{}: this is {}; convert it first: analyze import", path, rank.imported_from)};
  if (file.ranks.size() > 1)
    return Error{fmt::format(
        "{}: already a merged recording of {} processes; name the recordings it was made from",
        path, file.ranks.size())};
  Recording recording{.path = path,
                      .host = rank.process.host,
                      .run_id = rank.run_id,
                      .base_ns = file.base_ns,
                      .rank = rank.rank,
                      .world_size = rank.process.world_size.value_or(0),
                      .start = rank.start,
                      .end = rank.end,
                      .clock_steps = rank.trust.clock_steps};
  recording.job.base_ns = file.base_ns;
  recording.job.ranks = SummarizeOperations(rank);
  recording.idle = recording.job.ranks.empty();
  return recording;
}

using Recordings = std::map<std::string, Recording>;  // by path

// Takes those that could be read; the errors of the others stay behind in the result.
std::vector<SummarizedFile> ReadAll(const std::vector<std::string>& files,
                                    const JobOptions& options, Recordings& recordings) {
  std::vector<std::optional<Result<Recording>>> read(files.size());
  ReadFiles(files.size(), ReadingWithin(options, files),
            [&](std::size_t index, ReadProgress& progress) {
              auto file = ReadRecording(files[index], progress);
              read[index].emplace(file.ok() ? Describe(files[index], std::move(file).value())
                                            : Result<Recording>(Error{file.error()}));
            });
  std::vector<SummarizedFile> summarized;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!read[i]) {
      summarized.push_back({files[i], Stopped(files[i])});
    } else if (!read[i]->ok()) {
      summarized.push_back({files[i], Error{read[i]->error()}});
    } else {
      Recording& recording = read[i]->value();
      summarized.push_back({files[i], std::move(recording.job)});
      recordings.emplace(files[i], std::move(recording));
    }
  }
  return summarized;
}

bool IsOfSeveralHosts(const Job& job) {
  std::set<std::string_view> hosts;
  for (const RankSummary& rank : job.ranks) hosts.insert(rank.host);
  return hosts.size() > 1;
}

class Planner {
 public:
  Planner(const Job& job, const Recordings& recordings) : job_(job), recordings_(recordings) {}

  MergePlan Plan() {
    plan_.notes = job_.notes;
    plan_.run_id = job_.ranks.front().run_id;
    AddWorking();
    AddIdle();
    std::stable_sort(kept_.begin(), kept_.end(), [](const Kept& a, const Kept& b) {
      constexpr int kLast = std::numeric_limits<int>::max();
      return std::pair(a.recording->rank.value_or(kLast), std::string_view(a.recording->path)) <
             std::pair(b.recording->rank.value_or(kLast), std::string_view(b.recording->path));
    });
    plan_.base_ns = std::numeric_limits<std::int64_t>::max();
    for (const Kept& kept : kept_) plan_.base_ns = std::min(plan_.base_ns, kept.recording->base_ns);
    for (const Kept& kept : kept_) plan_.sources.push_back(SourceOf(kept));
    return std::move(plan_);
  }

 private:
  struct Kept {
    const Recording* recording;
    std::optional<ClockFit> fit;
  };

  // Those that used GPUs. A process has one clock on all its devices.
  void AddWorking() {
    const bool align = IsOfSeveralHosts(job_);
    const ClockAlignment clocks = align ? AlignClocks(job_, MatchRanks(job_)) : ClockAlignment();
    ClockAccount account;
    for (std::size_t i = 0; i < job_.ranks.size(); ++i) {
      const RankSummary& summary = job_.ranks[i];
      if (!working_.insert(summary.path).second) continue;
      const Recording& recording = recordings_.at(summary.path);
      if (!align) {
        kept_.push_back({&recording, std::nullopt});
      } else if (clocks.ranks[i].aligned) {
        kept_.push_back({&recording, clocks.ranks[i]});
        host_fits_.try_emplace(recording.host, clocks.ranks[i]);
        account.Add(clocks.ranks[i], ShiftOf(kept_.back()));
      } else {
        account.AddNotAligned(fmt::format("left out: the clock of {} could not be aligned: {}",
                                          RankName(job_, i), clocks.ranks[i].reason));
      }
    }
    if (!align) return;
    for (std::string& sentence : account.Finish()) plan_.notes.push_back(std::move(sentence));
  }

  // Processes of the job without GPU work: their recordings say why there is none.
  void AddIdle() {
    std::set<int> ranks;
    for (const RankSummary& summary : job_.ranks) ranks.insert(summary.rank);
    const int world_size = job_.ranks.front().world_size;
    for (const auto& [path, recording] : recordings_) {
      if (!recording.idle || recording.run_id != plan_.run_id) continue;
      if (recording.world_size != world_size || ranks.contains(recording.rank.value_or(-1)))
        continue;
      const auto fit = host_fits_.find(recording.host);
      if (host_fits_.empty()) {
        kept_.push_back({&recording, std::nullopt});
      } else if (fit != host_fits_.end()) {
        kept_.push_back({&recording, fit->second});
      } else {
        plan_.notes.push_back(fmt::format("left out: {}: no GPU work to align its clock by", path));
      }
    }
  }

  TimeNs ToJobBase(const Recording& recording) const { return recording.base_ns - job_.base_ns; }

  // As AlignRun: in the middle.
  TimeNs ShiftOf(const Kept& kept) const {
    if (!kept.fit) return 0;
    const TimeNs middle = kept.recording->start + ToJobBase(*kept.recording) +
                          (kept.recording->end - kept.recording->start) / 2;
    return ToJob(*kept.fit, middle) - middle;
  }

  MergeSource SourceOf(const Kept& kept) const {
    MergeSource source{.path = kept.recording->path, .clock_shift = ShiftOf(kept)};
    source.clock.to_job = ToJobBase(*kept.recording);
    source.clock.from_job = job_.base_ns - plan_.base_ns;
    source.clock.fit = kept.fit;
    source.clock.steps = kept.recording->clock_steps;
    if (kept.fit) source.clock_drift = kept.fit->drift;
    return source;
  }

  const Job& job_;
  const Recordings& recordings_;
  std::set<std::string> working_;              // paths
  std::map<std::string, ClockFit> host_fits_;  // of working processes
  std::vector<Kept> kept_;
  MergePlan plan_;
};

}  // namespace

Result<MergePlan> PlanMerge(const std::vector<std::string>& paths, const JobOptions& options) {
  auto named = ResolveRunPaths(paths);
  if (!named.ok()) return Error{named.error()};
  Recordings recordings;
  std::vector<SummarizedFile> files = ReadAll(named.value().files, options, recordings);
  if (IsStopped(options.stop)) return Stopped(named.value().files.front());
  const auto job = CombineJob(std::move(files), std::move(named.value().notes));
  if (!job.ok()) return Error{job.error()};
  if (job.value().ranks.empty())
    return Error{fmt::format("{}: the recordings contain no GPU work; analyze report explains why",
                             paths.front())};
  return Planner(job.value(), recordings).Plan();
}

}  // namespace traceinject
