// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/run/thread_looks.h"

#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/metrics/places/looks.h"

namespace traceinject {
namespace {

// The place of each stack's innermost frame, but kNone where one of its callers stands there, too:
// what calls itself was there once.
std::vector<std::uint32_t> FirstPlaces(const Rank& rank) {
  std::vector<std::uint32_t> places;
  places.reserve(rank.stacks.size());
  for (const CodeStack& stack : rank.stacks) {
    std::uint32_t at = stack.caller;
    while (at != kNone && rank.stacks[at].place != stack.place) at = rank.stacks[at].caller;
    places.push_back(at == kNone ? stack.place : kNone);
  }
  return places;
}

}  // namespace

std::vector<ThreadLooks> CountLooksOfThreads(const Rank& rank) {
  std::vector<ThreadLooks> threads(rank.threads.size());
  if (rank.stack_samples.size() == 0) return threads;
  const CodeSites sites(rank);
  const std::vector<std::uint32_t> first_places = FirstPlaces(rank);
  const std::vector<LookRuns> looks = LooksOfThreads(rank);
  for (std::size_t thread = 0; thread < looks.size(); ++thread) {
    ThreadLooks& to = threads[thread];
    std::unordered_map<std::uint32_t, std::int64_t> of_stack;
    for (const LookRun& run : looks[thread]) {
      to.all += run.looks;
      if (run.stack != kNone) of_stack[run.stack] += run.looks;
    }
    for (const auto& [stack, count] : of_stack) {
      to.at[sites.Of(stack).place].innermost += count;
      for (std::uint32_t at = stack; at != kNone; at = rank.stacks[at].caller) {
        if (first_places[at] != kNone) to.at[first_places[at]].anywhere += count;
      }
    }
  }
  return threads;
}

}  // namespace traceinject
