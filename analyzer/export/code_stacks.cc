// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/code_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analyzer/common/json_text.h"
#include "analyzer/export/stack_slices.h"
#include "analyzer/metrics/idle/process_label.h"
#include "analyzer/metrics/places/code_rows.h"

namespace traceinject {
namespace {

std::string ThreadTitle(const Run& run, const Rank& rank, std::size_t thread) {
  const Thread& one = rank.threads[thread];
  const std::string name = one.name.empty() ? fmt::format("thread {}", one.tid)
                                            : fmt::format("{} ({})", one.name, one.tid);
  return run.ranks.size() == 1 ? name : fmt::format("{} {}", ProcessLabel(run, rank), name);
}

// What separates frames and lines there must not be in a name.
std::string CollapsedName(std::string text) {
  for (char& letter : text) {
    if (letter == ';') letter = ':';
    if (letter == '\n' || letter == '\r') letter = ' ';
  }
  return text;
}

class SpeedscopeFrames {
 public:
  // The number of a frame among all.
  std::size_t Of(const Rank& rank, std::uint32_t place) {
    const CodePlace& code = rank.places[place];
    const std::string file(rank.string(code.file));
    const std::string text =
        fmt::format("{{\"name\":{},\"file\":{},\"line\":{}}}",
                    JsonString(rank.string(code.function)), JsonString(file), code.line);
    const auto [frame, is_new] = numbers_.try_emplace(text, frames_.size());
    if (is_new) frames_.push_back(text);
    return frame->second;
  }
  std::string Text() const { return fmt::format("[{}]", fmt::join(frames_, ",\n")); }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> frames_;
};

std::string SpeedscopeProfile(const Rank& rank, const std::string& title, const LookRuns& runs,
                              SpeedscopeFrames& frames) {
  const TimeNs period = LookPeriod(rank);
  std::vector<std::string> samples;
  std::vector<std::int64_t> weights;
  std::int64_t all = 0;
  for (const LookRun& look : runs) {
    std::vector<std::size_t> stack;
    for (const std::uint32_t place : PlacesOfStack(rank, look.stack))
      stack.push_back(frames.Of(rank, place));
    samples.push_back(fmt::format("[{}]", fmt::join(stack, ",")));
    weights.push_back(look.looks * std::max<TimeNs>(period, 1));
    all += weights.back();
  }
  return fmt::format(
      "{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{}\",\"startValue\":0,\"endValue\":{},\n"
      "\"samples\":[{}],\n\"weights\":[{}]}}",
      JsonString(title), period > 0 ? "nanoseconds" : "none", all, fmt::join(samples, ","),
      fmt::join(weights, ","));
}

}  // namespace

ExportCounts WriteCollapsedStacks(const Run& run, OutputFile& file) {
  ExportCounts counts;
  for (const Rank& rank : run.ranks) {
    const std::vector<LookRuns> threads = LooksOfThreads(rank);
    for (std::size_t thread = 0; thread < threads.size(); ++thread) {
      std::map<std::uint32_t, std::int64_t> looks;  // by stack
      for (const LookRun& one : threads[thread]) looks[one.stack] += one.looks;
      const std::string title = CollapsedName(ThreadTitle(run, rank, thread));
      for (const auto& [stack, count] : looks) {
        std::string line = title;
        for (const std::uint32_t place : PlacesOfStack(rank, stack))
          line += ";" + CollapsedName(FrameText(rank, place));
        file.Write(fmt::format("{} {}\n", line, count));
        counts.events += static_cast<std::uint64_t>(count);
      }
    }
  }
  return counts;
}

ExportCounts WriteSpeedscope(const Run& run, OutputFile& file) {
  ExportCounts counts;
  SpeedscopeFrames frames;
  std::string profiles;
  for (const Rank& rank : run.ranks) {
    const std::vector<LookRuns> threads = LooksOfThreads(rank);
    for (std::size_t thread = 0; thread < threads.size(); ++thread) {
      if (threads[thread].empty()) continue;
      counts.events += static_cast<std::uint64_t>(CountLooks(threads[thread]));
      profiles += profiles.empty() ? "" : ",\n";
      profiles += SpeedscopeProfile(rank, ThreadTitle(run, rank, thread), threads[thread], frames);
    }
  }
  file.Write(fmt::format(
      "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
      "\"exporter\":\"traceinject\",\"shared\":{{\"frames\":{}}},\n\"profiles\":[{}]}}\n",
      frames.Text(), profiles));
  return counts;
}

}  // namespace traceinject
