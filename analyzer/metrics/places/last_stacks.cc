// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/last_stacks.h"

#include <algorithm>
#include <tuple>

namespace traceinject {
namespace {

// A thread that nobody saw for so long before the end is over: it would have been looked at, and
// what was seen is in the file after a second or two.
constexpr TimeNs kOverAfterNs = 5'000'000'000;

struct SeenThread {
  LastStack last;
  std::int64_t looks = 0;
};

std::vector<SeenThread> SeenThreads(const Rank& rank) {
  const StackSamples& samples = rank.stack_samples;
  std::vector<SeenThread> threads(rank.threads.size());
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const StackKind kind = samples.kind[row];
    const bool is_look = kind == StackKind::kTimed || kind == StackKind::kStall;
    if (!is_look || samples.stack[row] == kNone || samples.thread[row] >= threads.size()) continue;
    SeenThread& thread = threads[samples.thread[row]];
    const TimeNs time = samples.time[row] + samples.span[row];
    thread.looks += std::int64_t{samples.repeats[row]} + 1;
    if (thread.last.stack != kNone && time < thread.last.time) continue;
    thread.last = {samples.thread[row], samples.stack[row], time, kind == StackKind::kStall};
  }
  std::erase_if(threads, [](const SeenThread& thread) { return thread.last.stack == kNone; });
  return threads;
}

}  // namespace

std::vector<LastStack> LastStacks(const Rank& rank) {
  std::vector<SeenThread> threads = SeenThreads(rank);
  if (threads.empty()) return {};
  const TimeNs end = std::ranges::max_element(threads, {}, [](const SeenThread& thread) {
                       return thread.last.time;
                     })->last.time;
  std::erase_if(threads,
                [end](const SeenThread& thread) { return thread.last.time < end - kOverAfterNs; });
  std::ranges::stable_sort(threads, [&](const SeenThread& a, const SeenThread& b) {
    const auto rating = [&](const SeenThread& thread) {
      return std::tuple(rank.threads[thread.last.thread].tid == rank.process.pid, thread.looks);
    };
    return rating(a) > rating(b);
  });
  std::vector<LastStack> last;
  for (const SeenThread& thread : threads) last.push_back(thread.last);
  return last;
}

}  // namespace traceinject
