// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/foreign/foreign_reader.h"

#include <fmt/format.h>

#include <limits>
#include <utility>
#include <vector>

#include "analyzer/import/finish/find_loaders_and_steps.h"
#include "analyzer/import/finish/finish_rank.h"

namespace traceinject {
namespace {

// Of one machine. Each takes some kilobytes, whatever rows it has.
constexpr std::size_t kMaxProcesses = 4096;

bool HasOperations(const Rank& rank) {
  return std::any_of(rank.devices.begin(), rank.devices.end(),
                     [](const Device& device) { return device.ops.size() > 0; });
}

TimeNs FirstStart(const Rank& rank) {
  TimeNs first = kOpen;
  const auto look = [&](const TimeColumn& start) {
    for (const TimeNs time : start) first = std::min(first, time);
  };
  for (const Device& device : rank.devices) look(device.ops.start);
  look(rank.api.start);
  look(rank.nvtx.start);
  return first;
}

}  // namespace

Status ForeignReader::CountRowsOf(std::span<const std::string_view> tables) {
  std::vector<std::string_view> there;
  for (const std::string_view table : tables) {
    if (rows_.tables().Has(table)) there.push_back(table);
  }
  return rows_.CountRows(there);
}

Status ForeignReader::ReadStringTable(std::string_view table, std::string_view text_column,
                                      ForeignStrings& into) {
  return rows_.ForEachRowOf(
      table, {"id", text_column}, {"id", text_column}, [&](const SqlRow& row) {
        into.ids.Add(row.int64(0), static_cast<std::uint32_t>(into.texts.size()));
        into.texts.emplace_back(row.text(1));
      });
}

ForeignProcess* ForeignReader::Process(std::string_view table, std::uint64_t key,
                                       std::int64_t pid) {
  const auto known = processes_.find(key);
  if (known != processes_.end()) return known->second.get();
  if (processes_.size() == kMaxProcesses) {
    rows_.Count(table, RowProblem::kNoProcess);
    return nullptr;
  }
  auto& process = processes_[key] = std::make_unique<ForeignProcess>(strings_);
  process->rank().process.pid = pid;
  return process.get();
}

bool ForeignReader::Times(std::string_view table, const SqlRow& row, TimeNs& start, TimeNs& end,
                          std::int64_t base) {
  if (row.type(0) != SQLITE_INTEGER || row.type(1) != SQLITE_INTEGER) {
    rows_.Count(table, RowProblem::kNoTime);
    return false;
  }
  TimeNs dur = 0;
  if (__builtin_sub_overflow(row.int64(1), row.int64(0), &dur))
    dur = std::numeric_limits<TimeNs>::max();
  if (__builtin_sub_overflow(row.int64(0), base, &start))
    start = std::numeric_limits<TimeNs>::max();
  return rows_.Times(table, start, dur, end);
}

void ForeignReader::MakeRanks(std::string_view imported_from, Repairs repairs,
                              const std::function<void(std::uint64_t, Rank&)>& describe,
                              RecordedFile& file) {
  const std::string& path = rows_.database().path();
  std::int64_t idle = 0;
  for (auto& [key, process] : processes_) {
    if (!HasOperations(process->rank())) {
      ++idle;
      continue;
    }
    Rank& rank = file.ranks.emplace_back(std::move(process->rank()));
    rank.path = path;
    rank.start = FirstStart(rank);
    rank.end = kOpen;
    describe(key, rank);
    rank.imported_from = imported_from;
    rank.closed = true;
    FindLoadersAndSteps(rank);
    if (repairs == Repairs::kDone) FinishRank(rank);
  }
  file.notes = rows_.Notes();
  if (idle > 0)
    file.notes.push_back(fmt::format("{}: {} process{} without GPU operations left out", path, idle,
                                     idle == 1 ? "" : "es"));
}

}  // namespace traceinject
