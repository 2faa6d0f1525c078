// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/run/export_chakra.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <vector>

#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/common/units.h"
#include "analyzer/export/chakra/chakra_trace.h"
#include "analyzer/export/found_steps.h"
#include "analyzer/report/layout/text_notation.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

int SayChakra(const std::string& error, int exit_code) {
  fmt::print(stderr, "analyze export: {}\n", error);
  return exit_code;
}

// Traces of two exports in one folder would be taken for those of one job.
Status MakeFolder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && !fs::is_directory(folder, error))
    return Error{fmt::format("{}: this is a file; name a folder", folder)};
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".et")
      return Error{fmt::format("{}: there are traces in this folder; name another one", folder)};
  }
  if (error) return Error{fmt::format("{}: cannot make this folder ({})", folder, error.message())};
  return Done{};
}

// When each device of a rank ran the chosen steps, which follow each other.
std::vector<Intervals> TimesOfSteps(const Rank& rank, const StepChoice& choice) {
  const std::vector<FoundSteps> found = FindStepsOfDevices(rank);
  std::vector<Intervals> times;
  for (const Device& device : rank.devices) {
    Intervals& of_device = times.emplace_back();
    for (const FoundSteps& each : found) {
      if (each.ordinal != device.ordinal) continue;
      for (std::size_t i = 0; i < each.steps.steps.size(); ++i) {
        const std::int64_t number = each.steps.number(i);
        if (number < choice.first || number > choice.last) continue;
        const Interval time = each.steps.steps[i].time;
        if (of_device.empty()) of_device.push_back(time);
        of_device.back().end = time.end;
      }
    }
  }
  return times;
}

std::vector<Intervals> ChosenTimes(const Rank& rank, const std::optional<StepChoice>& steps) {
  if (steps) return TimesOfSteps(rank, *steps);
  const Interval all{std::numeric_limits<TimeNs>::min(), kOpen};
  return std::vector<Intervals>(rank.devices.size(), Intervals{all});
}

bool HasTimes(const std::vector<std::vector<Intervals>>& chosen) {
  return std::any_of(chosen.begin(), chosen.end(), [](const std::vector<Intervals>& of_rank) {
    return std::any_of(of_rank.begin(), of_rank.end(),
                       [](const Intervals& times) { return !times.empty(); });
  });
}

template <typename Write>
Status WriteInto(const std::string& path, Write write) {
  auto file = OutputFile::Create(path);
  if (!file.ok()) return Error{file.error()};
  write(file.value());
  return file.value().Close();
}

void SayMissing(const ChakraCounts& counts) {
  const auto say = [](std::uint64_t count, std::string_view what) {
    if (count > 0)
      fmt::print(stderr, "note: {} {}\n", FormatCount(static_cast<std::int64_t>(count)), what);
  };
  say(counts.without_size,
      "operations of NCCL of which no call, size or number of ranks was recorded have no size");
  say(counts.without_peer,
      "sends and receives have no peer: the recording of the other rank is needed to know it");
  say(counts.without_launch, "operations on GPUs depend on no call: their launch was not recorded");
}

}  // namespace

int ExportChakraFolder(const Run& run, const std::string& folder,
                       const std::optional<StepChoice>& steps) {
  std::vector<std::vector<Intervals>> chosen;
  for (const Rank& rank : run.ranks) chosen.push_back(ChosenTimes(rank, steps));
  if (!HasTimes(chosen)) return SayChakra("no GPU has the selected steps", kBadUsage);
  if (const Status made = MakeFolder(folder); !made.ok())
    return SayChakra(made.error(), kUnreadable);
  const CommGroups groups(run);
  const std::vector<int> numbers = NumbersOfRanks(run);
  ChakraCounts counts;
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    const std::string path =
        (fs::path(folder) / fmt::format("trace.{}.et", numbers[rank])).string();
    ChakraCounts of_rank;
    const Status written = WriteInto(path, [&](OutputFile& file) {
      of_rank = WriteChakraTrace(run, rank, groups, chosen[rank], file);
    });
    if (!written.ok()) return SayChakra(written.error(), kUnreadable);
    fmt::print(stderr, "{}: {}\n", path, Plural(static_cast<std::int64_t>(of_rank.nodes), "node"));
    counts += of_rank;
  }
  const std::string path = (fs::path(folder) / "trace.comm_groups.json").string();
  const Status written = WriteInto(path, [&](OutputFile& file) { file.Write(groups.Json()); });
  if (!written.ok()) return SayChakra(written.error(), kUnreadable);
  SayMissing(counts);
  return kReported;
}

}  // namespace traceinject
