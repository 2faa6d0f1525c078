// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/load/combine_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/common/text.h"
#include "analyzer/import/load/newest_attempt.h"
#include "analyzer/import/load/read_files.h"
#include "analyzer/ranks/summary/join_jobs.h"

namespace traceinject {
namespace {

using Summaries = std::vector<RankSummary>;

// Leaves out what `leaves_out` says; returns the files that this leaves out, each once.
template <typename LeavesOut>
std::vector<std::string> LeaveOut(Summaries& ranks, LeavesOut leaves_out) {
  std::set<std::string> paths;
  std::erase_if(ranks, [&](const RankSummary& rank) {
    if (!leaves_out(rank)) return false;
    paths.insert(rank.path);
    return true;
  });
  return {paths.begin(), paths.end()};
}

void KeepNewestAttempt(Job& job) {
  std::map<std::pair<std::string, std::string>, std::int64_t> started;  // by path and run_id
  for (const RankSummary& rank : job.ranks)
    started.try_emplace({rank.path, rank.run_id}, job.base_ns + rank.start);
  std::vector<AttemptFile> files;
  for (const auto& [file, start] : started) files.push_back({file.first, file.second, start});
  NewestAttempt newest = FindNewestAttempt(files);
  std::erase_if(job.ranks, [&](const RankSummary& rank) { return rank.run_id != newest.run_id; });
  for (std::string& note : newest.notes) job.notes.push_back(std::move(note));
}

// Traces of other profilers do not report their attempt, but when they were made. Clocks of hosts
// differ by less than this.
constexpr TimeNs kStaleNs = 60'000'000'000;

void LeaveOutStale(Job& job) {
  if (!job.ranks.front().run_id.empty()) return;
  TimeNs last_start = std::numeric_limits<TimeNs>::min();
  for (const RankSummary& rank : job.ranks) last_start = std::max(last_start, rank.start);
  const auto stale = LeaveOut(
      job.ranks, [&](const RankSummary& rank) { return rank.end < last_start - kStaleNs; });
  if (!stale.empty())
    job.notes.push_back(
        fmt::format("left out, because they ended long before others began: {}", JoinFirst(stale)));
}

void KeepOneWorld(Job& job) {
  std::map<int, std::size_t> ranks_of;
  for (const RankSummary& rank : job.ranks) {
    if (rank.rank >= 0) ++ranks_of[rank.world_size];
  }
  if (ranks_of.empty()) return;
  const auto strays = LeaveOut(job.ranks, [](const RankSummary& rank) { return rank.rank < 0; });
  if (!strays.empty())
    job.notes.push_back(
        fmt::format("left out, processes that are not ranks of the job: {}", JoinFirst(strays)));
  // Of equally many, the larger world.
  const int world = std::max_element(ranks_of.begin(), ranks_of.end(), [](auto& a, auto& b) {
                      return std::pair(a.second, a.first) < std::pair(b.second, b.first);
                    })->first;
  const auto others =
      LeaveOut(job.ranks, [&](const RankSummary& rank) { return rank.world_size != world; });
  if (!others.empty())
    job.notes.push_back(fmt::format("left out, from a job with a size other than {} ranks: {}",
                                    world, JoinFirst(others)));
}

std::size_t Operations(const RankSummary& rank) {
  std::size_t operations = 0;
  for (const GroupOperations& group : rank.groups) operations += group.count();
  return operations;
}

// Of two recordings of one rank, whether the second is the one to keep.
bool Supersedes(const RankSummary& a, const RankSummary& b) {
  if (b.start >= a.end || a.start >= b.end) return b.start > a.start;
  return std::pair(Operations(b), b.steps.size()) > std::pair(Operations(a), a.steps.size());
}

// One of them may have been merged: moved to another clock, by not quite the same everywhere.
bool SameRecording(const RankSummary& a, const RankSummary& b) {
  constexpr TimeNs kDriftNs = 1'000'000'000;
  if (a.host != b.host || a.pid != b.pid) return false;
  const TimeNs apart = (a.start - a.clock_shift) - (b.start - b.clock_shift);
  return a.clock_shift == b.clock_shift ? apart == 0 : std::abs(apart) < kDriftNs;
}

// `ranks` by (rank, device). Processes without a rank are told apart by host and pid.
void KeepOneOfEach(Job& job) {
  std::set<std::string> twice;
  Summaries kept;
  for (RankSummary& rank : job.ranks) {
    const bool same =
        !kept.empty() && kept.back().rank == rank.rank && kept.back().device == rank.device;
    if (!same || (rank.rank < 0 && !SameRecording(kept.back(), rank))) {
      kept.push_back(std::move(rank));
      continue;
    }
    if (SameRecording(kept.back(), rank)) {
      // As it was recorded.
      if (kept.back().clock_shift != 0 && rank.clock_shift == 0) std::swap(kept.back(), rank);
      continue;
    }
    if (Supersedes(kept.back(), rank)) std::swap(kept.back(), rank);
    twice.insert(rank.path);
  }
  job.ranks = std::move(kept);
  if (twice.empty()) return;
  job.notes.push_back(fmt::format(
      "left out, duplicate recordings of a rank (a child process or an earlier start): {}",
      JoinFirst({twice.begin(), twice.end()})));
}

// Timelines may name a group without its size: as many ranks as there are that name it.
void CountMembers(Job& job) {
  std::map<std::uint64_t, int> members;
  const auto for_each = [&](auto use) {
    for (RankSummary& rank : job.ranks) {
      if (!rank.tells_operations()) continue;
      for (GroupOperations& group : rank.groups) {
        if (group.size == 0 && group.rank < 0) use(group);
      }
    }
  };
  for_each([&](const GroupOperations& group) { ++members[group.hash]; });
  for_each([&](GroupOperations& group) { group.size = members[group.hash]; });
}

void NoteMissingRanks(Job& job) {
  std::set<int> known;
  int world = 0;
  for (const RankSummary& rank : job.ranks) {
    known.insert(rank.rank);
    world = std::max(world, rank.world_size);
  }
  std::vector<int> missing;
  for (int rank = 0; rank < world; ++rank) {
    if (!known.contains(rank)) missing.push_back(rank);
  }
  if (missing.empty() || static_cast<int>(missing.size()) == world) return;
  job.notes.push_back(
      missing.size() == 1
          ? fmt::format("rank {} of {} is missing", missing.front(), world)
          : fmt::format("ranks {} of {} are missing", NumberRanges(missing), world));
}

// All that was read, on one base, by (rank, device).
Job Join(std::vector<SummarizedFile>& files, std::vector<std::string> notes) {
  std::vector<Job> jobs(1);
  jobs.front().notes = std::move(notes);
  // It has no times: any base will do.
  jobs.front().base_ns = std::numeric_limits<std::int64_t>::max();
  for (SummarizedFile& file : files) {
    if (file.job.ok()) {
      jobs.push_back(std::move(file.job).value());
    } else {
      jobs.front().notes.push_back("left out: " + file.job.error());
    }
  }
  Job job = JoinJobs(std::move(jobs));
  const auto key = [](const RankSummary& rank) {
    return std::tie(rank.rank, rank.device, rank.host, rank.pid, rank.start, rank.path);
  };
  std::sort(job.ranks.begin(), job.ranks.end(),
            [&](const RankSummary& a, const RankSummary& b) { return key(a) < key(b); });
  return job;
}

}  // namespace

Result<Job> CombineJob(std::vector<SummarizedFile> files, std::vector<std::string> notes) {
  std::sort(files.begin(), files.end(),
            [](const SummarizedFile& a, const SummarizedFile& b) { return a.path < b.path; });
  std::vector<std::string> errors;
  for (const SummarizedFile& file : files) {
    if (!file.job.ok()) errors.push_back(file.job.error());
  }
  if (files.empty()) return Error{"no recording given"};
  if (errors.size() == files.size()) return NoneCouldBeRead(errors);
  Job job = Join(files, std::move(notes));
  if (job.ranks.empty()) return job;
  KeepNewestAttempt(job);
  LeaveOutStale(job);
  KeepOneWorld(job);
  KeepOneOfEach(job);
  CountMembers(job);
  NoteMissingRanks(job);
  return job;
}

}  // namespace traceinject
