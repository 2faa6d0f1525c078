// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/hangs.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyzer/metrics/links/collectives.h"

namespace traceinject {
namespace {

// Operations of a function on a communicator, the last life of it.
struct Progress {
  const GroupOperations* group = nullptr;
  std::int64_t completed = 0;       // of the function
  std::int64_t last_sequence = -1;  // of these; -1: not reported
};

Progress ProgressOf(const RankSummary& summary, std::uint64_t hash, const std::string& function) {
  Progress progress;
  for (const GroupOperations& group : summary.groups) {
    if (group.hash == hash && (progress.group == nullptr || group.life > progress.group->life))
      progress.group = &group;
  }
  if (progress.group == nullptr) return progress;
  for (std::size_t i = 0; i < progress.group->count(); ++i) {
    if (summary.kinds[progress.group->kind[i]].function != function) continue;
    ++progress.completed;
    progress.last_sequence = std::max(progress.last_sequence, progress.group->sequence[i]);
  }
  return progress;
}

const HungFacts* FirstHung(const RankSummary& summary, std::uint64_t hash) {
  const auto found = std::find_if(summary.hung.begin(), summary.hung.end(),
                                  [&](const HungFacts& hung) { return hung.hash == hash; });
  return found == summary.hung.end() ? nullptr : &*found;
}

// Whether a rank got further than the others, who stand in their next operation of that function.
// By number, or by count, which is vague where records are missing: it counts only for functions
// that a rank may leave before all others came.
bool Completed(const Progress& progress, std::int64_t most_completed, const Hang& hang) {
  if (hang.sequence >= 0 && progress.last_sequence >= 0)
    return progress.last_sequence >= hang.sequence;
  return !WaitsForAllRanks(hang.function) && progress.completed > most_completed;
}

bool SameOperation(const HungFacts& a, const HungFacts& b) {
  return a.hash == b.hash && a.function == b.function &&
         (a.sequence == b.sequence || a.sequence < 0 || b.sequence < 0);
}

// What is known of the communicator's other members.
void FindAbsent(const Job& job, Hang& hang) {
  std::set<int> recorded;
  int size = 0;
  std::int64_t most_completed = 0;
  for (const std::size_t r : hang.waiting)
    most_completed =
        std::max(most_completed, ProgressOf(job.ranks[r], hang.hash, hang.function).completed);
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    const Progress progress = ProgressOf(job.ranks[r], hang.hash, hang.function);
    if (progress.group == nullptr) continue;
    size = std::max(size, progress.group->size);
    recorded.insert(progress.group->rank);
    const bool waits = std::find(hang.waiting.begin(), hang.waiting.end(), r) != hang.waiting.end();
    if (!waits && !Completed(progress, most_completed, hang)) hang.absent.push_back(r);
  }
  std::stable_sort(hang.absent.begin(), hang.absent.end(), [&](std::size_t a, std::size_t b) {
    return job.ranks[a].end < job.ranks[b].end;
  });
  for (int rank = 0; rank < size; ++rank) {
    if (!recorded.contains(rank)) hang.not_recorded.push_back(rank);
  }
}

}  // namespace

std::vector<Hang> FindHangs(const Job& job) {
  std::map<std::uint64_t, Hang> by_hash;
  // The rank that got least far on a communicator stands in the operation that hangs; what others
  // have queued behind theirs waits for that.
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    for (const HungFacts& hung : job.ranks[r].hung) {
      if (FirstHung(job.ranks[r], hung.hash) != &hung) continue;
      const auto [at, is_new] = by_hash.try_emplace(hung.hash);
      Hang& hang = at->second;
      const bool earlier = !is_new && hung.function == hang.function && hung.sequence >= 0 &&
                           hung.sequence < hang.sequence;
      if (is_new || earlier) {
        hang = {};
        hang.hash = hung.hash;
        hang.function = hung.function;
        hang.bytes = hung.bytes;
        hang.sequence = hung.sequence;
        hang.since = hung.since;
      }
    }
  }
  std::vector<Hang> hangs;
  for (auto& [hash, hang] : by_hash) {
    const HungFacts operation{hang.hash, hang.function, hang.bytes, hang.sequence, hang.since};
    for (std::size_t r = 0; r < job.ranks.size(); ++r) {
      const auto stands = [&](const HungFacts& hung) { return SameOperation(hung, operation); };
      const auto found = std::find_if(job.ranks[r].hung.begin(), job.ranks[r].hung.end(), stands);
      if (found == job.ranks[r].hung.end()) continue;
      hang.waiting.push_back(r);
      hang.since = std::min(hang.since, found->since);
    }
    FindAbsent(job, hang);
    hangs.push_back(std::move(hang));
  }
  std::stable_sort(hangs.begin(), hangs.end(), [](const Hang& a, const Hang& b) {
    return a.waiting.size() > b.waiting.size();
  });
  return hangs;
}

}  // namespace traceinject
