// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/links/match_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "analyzer/metrics/links/align_sequences.h"

namespace traceinject {
namespace {

// One communicator as one recorded rank knows it.
struct CommunicatorView {
  std::size_t member = 0;
  std::vector<NcclLaunch*> launches;  // those of the functions looked for, in order
};

// The members of one communicator, by rank in it.
using CommunicatorMembers = std::vector<CommunicatorView>;

bool SameKind(const NcclLaunch& a, const NcclLaunch& b) {
  return a.function == b.function && a.bytes == b.bytes;
}

bool SameSequence(const CommunicatorMembers& members) {
  const std::vector<NcclLaunch*>& first = members.front().launches;
  return std::all_of(members.begin(), members.end(), [&](const CommunicatorView& view) {
    return std::equal(first.begin(), first.end(), view.launches.begin(), view.launches.end(),
                      [](const NcclLaunch* a, const NcclLaunch* b) { return SameKind(*a, *b); });
  });
}

TimeNs EndOf(const NcclLaunch& launch) { return launch.start + launch.kernel_ns; }

// What flight recorders kept begins and ends with another operation on each rank. Since none can
// leave an operation before all have entered it, those that ended before the last rank's first
// began are not on all of them.
void LeaveCommonPart(CommunicatorMembers& members) {
  TimeNs from = std::numeric_limits<TimeNs>::min();
  for (const CommunicatorView& view : members) from = std::max(from, view.launches.front()->start);
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (CommunicatorView& view : members) {
    const auto first =
        std::find_if(view.launches.begin(), view.launches.end(),
                     [&](const NcclLaunch* launch) { return EndOf(*launch) > from; });
    view.launches.erase(view.launches.begin(), first);
    fewest = std::min(fewest, view.launches.size());
  }
  for (CommunicatorView& view : members) view.launches.resize(fewest);
}

// Whether each operation ran on all ranks at once.
bool RanTogether(const CommunicatorMembers& members) {
  for (std::size_t k = 0; k < members.front().launches.size(); ++k) {
    TimeNs last_start = std::numeric_limits<TimeNs>::min(),
           first_end = std::numeric_limits<TimeNs>::max();
    for (const CommunicatorView& view : members) {
      last_start = std::max(last_start, view.launches[k]->start);
      first_end = std::min(first_end, EndOf(*view.launches[k]));
    }
    if (last_start > first_end) return false;
  }
  return true;
}

void SetTransfers(const CommunicatorMembers& members) {
  for (std::size_t k = 0; k < members.front().launches.size(); ++k) {
    TimeNs shortest = std::numeric_limits<TimeNs>::max();
    for (const CommunicatorView& view : members)
      shortest = std::min(shortest, view.launches[k]->kernel_ns);
    for (const CommunicatorView& view : members) view.launches[k]->transfer_ns = shortest;
  }
}

// Views of the communicators that saw work: by hash and size, then by own rank, in order of
// creation (a hash may come again after its communicator was destroyed).
using Places = std::map<int, std::vector<CommunicatorView>>;
using ViewsByHash = std::map<std::pair<std::uint64_t, int>, Places>;

// Views of a member, with the launches whose function is one of those looked for.
template <typename TakesPart>
void CollectViews(const NcclMember& member, std::size_t index, TakesPart takes_part,
                  ViewsByHash& views) {
  std::map<std::uint32_t, CommunicatorView> by_id;
  for (NcclLaunch& launch : member.links->launches) {
    if (launch.communicator >= member.rank->communicators.size() || !takes_part(launch.function))
      continue;
    by_id[launch.communicator].launches.push_back(&launch);
  }
  for (auto& [id, view] : by_id) {
    const Communicator& communicator = member.rank->communicators[id];
    if (communicator.hash == 0 || communicator.size.value_or(0) < 2 || !communicator.rank) continue;
    view.member = index;
    views[{communicator.hash, *communicator.size}][*communicator.rank].push_back(std::move(view));
  }
}

// Whether every rank was recorded: that of one that was not may have been the shortest kernel.
bool Complete(const Places& places, int size) {
  return places.size() == static_cast<std::size_t>(size) &&
         std::all_of(places.begin(), places.end(), [&](const auto& place) {
           return place.second.size() == places.begin()->second.size();
         });
}

bool AllRanksCall(std::string_view function) {
  return function.find("Send") == std::string_view::npos &&
         function.find("Recv") == std::string_view::npos;
}

// Numbers kinds of launches, the same for views of one communicator.
class KindNumbers {
 public:
  std::vector<SequenceItem> Items(const CommunicatorView& view) {
    std::vector<SequenceItem> items;
    items.reserve(view.launches.size());
    for (const NcclLaunch* launch : view.launches) {
      const auto number = static_cast<std::uint32_t>(numbers_.size());
      const auto found =
          numbers_.try_emplace({launch->function, launch->bytes.value_or(-1)}, number).first;
      items.push_back({found->second, launch->start});
    }
    return items;
  }

 private:
  std::map<std::pair<std::string_view, std::int64_t>, std::uint32_t> numbers_;
};

// The views of one communicator, against the one with the most launches.
void MatchViews(const std::vector<NcclMember>& members,
                const std::vector<const CommunicatorView*>& views,
                std::vector<SameOperation>& operations) {
  const auto& longest = *std::max_element(views.begin(), views.end(), [](auto* a, auto* b) {
    return a->launches.size() < b->launches.size();
  });
  KindNumbers numbers;
  const std::vector<SequenceItem> of_longest = numbers.Items(*longest);
  std::vector<SameOperation> found(longest->launches.size());
  for (const CommunicatorView* view : views) {
    const NcclLaunch* const first = members[view->member].links->launches.data();
    for (const auto& [i, j] : AlignSequences(of_longest, numbers.Items(*view))) {
      found[i].push_back({view->member, static_cast<std::size_t>(view->launches[j] - first)});
    }
  }
  for (SameOperation& operation : found) {
    if (operation.size() > 1) operations.push_back(std::move(operation));
  }
}

}  // namespace

std::vector<SameOperation> MatchOperations(const std::vector<NcclMember>& members) {
  ViewsByHash by_hash;
  std::vector<CommunicatorView> unknown;  // launches without a communicator
  for (std::size_t i = 0; i < members.size(); ++i) {
    CollectViews(members[i], i, AllRanksCall, by_hash);
    CommunicatorView view{i, {}};
    for (NcclLaunch& launch : members[i].links->launches) {
      if (launch.communicator == kNone && AllRanksCall(launch.function)) {
        view.launches.push_back(&launch);
      }
    }
    if (!view.launches.empty()) unknown.push_back(std::move(view));
  }
  std::vector<SameOperation> operations;
  std::vector<const CommunicatorView*> views;
  for (const auto& [key, places] : by_hash) {
    std::size_t lives = 0;  // of communicators of this hash, one after the other
    for (const auto& [own_rank, list] : places) lives = std::max(lives, list.size());
    for (std::size_t life = 0; life < lives; ++life) {
      views.clear();
      for (const auto& [own_rank, list] : places) {
        if (life < list.size()) views.push_back(&list[life]);
      }
      MatchViews(members, views, operations);
    }
  }
  views.clear();
  for (const CommunicatorView& view : unknown) views.push_back(&view);
  if (views.size() > 1) MatchViews(members, views, operations);
  return operations;
}

std::vector<std::string> EstimateTransfers(const std::vector<NcclMember>& members) {
  std::vector<std::string> notes;
  ViewsByHash views;
  for (std::size_t i = 0; i < members.size(); ++i) {
    CollectViews(members[i], i, WaitsForAllRanks, views);
  }
  for (auto& [key, places] : views) {
    const int size = key.second;
    if (!Complete(places, size)) continue;
    const bool assumed = key.first == kAssumedWorld;
    for (std::size_t i = 0; i < places.begin()->second.size(); ++i) {
      CommunicatorMembers same;
      for (auto& [own_rank, list] : places) same.push_back(list[i]);
      const bool parts = std::any_of(same.begin(), same.end(), [&](const auto& view) {
        return members[view.member].rank->kept_from.has_value();
      });
      if (parts) LeaveCommonPart(same);
      if (SameSequence(same) && ((!parts && !assumed) || RanTogether(same))) {
        SetTransfers(same);
      } else if (assumed) {
        notes.push_back(
            "The traces do not tell the communicators of NCCL operations, and they did not run on "
            "all ranks at the same time, so waiting and transfer cannot be separated.");
      } else {
        notes.push_back(
            fmt::format("The ranks of a communicator of {} recorded different sequences of NCCL "
                        "operations on it, so waiting and transfer cannot be separated there.",
                        size));
      }
    }
  }
  return notes;
}

}  // namespace traceinject
