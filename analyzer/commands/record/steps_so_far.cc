// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/steps_so_far.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "analyzer/import/open/open_recording.h"
#include "analyzer/import/open/writer_lock.h"
#include "analyzer/metrics/steps/nvtx_steps.h"

namespace traceinject {
namespace {

constexpr char kRangeColumns[] = "text, dur, kind";

// Calls visit(row) for the rows behind `last`, and moves that on. What cannot be read now is
// read the next time.
void ForNewRows(const Database& recording, const std::string& table, const std::string& columns,
                std::int64_t& last, const std::function<void(const Statement&)>& visit) {
  auto newest = recording.Prepare(fmt::format("SELECT max(rowid) FROM {}", table));
  if (!newest.ok()) return;
  const auto found = newest.value().Step();
  if (!found.ok()) return;
  // Numbers begin anew where all rows were dropped (TRACEINJECT_KEEP_LAST).
  if (newest.value().int64(0) < last) last = 0;
  auto rows = recording.Prepare(
      fmt::format("SELECT rowid, {} FROM {} WHERE rowid > {}", columns, table, last));
  if (!rows.ok()) return;
  for (auto row = rows.value().Step(); row.ok() && row.value(); row = rows.value().Step()) {
    last = rows.value().int64(0);
    visit(rows.value());
  }
}

}  // namespace

void StepsSoFar::Process::ReadMarks(const Database& recording) {
  ForNewRows(recording, "step_mark", "optimizer, time", last_mark, [&](const Statement& row) {
    optimizers[static_cast<std::uint32_t>(row.int64(1))].Add(row.int64(2));
  });
}

const std::string& StepsSoFar::Process::StepName(std::int64_t text, const Database& recording) {
  const auto [entry, is_new] = step_names.try_emplace(text);
  if (!is_new) return entry->second;
  auto string = recording.Prepare(fmt::format("SELECT text FROM string WHERE id = {}", text));
  if (string.ok() && string.value().Step().ok()) entry->second = StepPrefix(string.value().text(0));
  return entry->second;
}

// `row`: rowid, text, dur, kind.
void StepsSoFar::Process::AddRange(const Statement& row, const Database& recording) {
  if (row.is_null(1) || static_cast<NvtxKind>(row.int64(3)) == NvtxKind::kMark) return;
  const std::string& name = StepName(row.int64(1), recording);
  if (name.empty()) return;
  ++ranges[name].count;
  ranges[name].dur_ns += row.int64(2);
}

void StepsSoFar::Process::ReadRanges(const Database& recording) {
  ForNewRows(recording, "nvtx", kRangeColumns, last_range,
             [&](const Statement& row) { AddRange(row, recording); });
  ReadOpenRanges(recording);
}

void StepsSoFar::Process::ReadOpenRanges(const Database& recording) {
  const auto read = [&](const std::string& which) {
    auto rows = recording.Prepare(
        fmt::format("SELECT rowid, {} FROM nvtx WHERE rowid {}", kRangeColumns, which));
    if (!rows.ok()) return;
    for (auto row = rows.value().Step(); row.ok() && row.value(); row = rows.value().Step()) {
      const std::int64_t id = rows.value().int64(0);
      last_open_range = std::min(last_open_range, id);
      if (rows.value().is_null(2)) {
        open_ranges.insert(id);
      } else {
        open_ranges.erase(id);
        AddRange(rows.value(), recording);
      }
    }
  };
  const std::int64_t before = last_open_range;
  for (const std::int64_t id : std::set(open_ranges)) read(fmt::format("= {}", id));
  read(fmt::format("< {}", before));
}

std::int64_t StepsSoFar::Process::marks() const {
  return optimizers.empty()
             ? 0
             : static_cast<std::int64_t>(optimizers.at(OptimizerOfSteps(optimizers)).count);
}

void StepsSoFar::Process::Read(const Database& recording) {
  ReadMarks(recording);
  if (marks() <= static_cast<std::int64_t>(kMinSteps)) ReadRanges(recording);
}

std::int64_t StepsSoFar::Process::steps() const {
  if (marks() > static_cast<std::int64_t>(kMinSteps) || ranges.empty()) return marks();
  const auto profiler = ranges.find(std::string(kProfilerStep));
  if (profiler != ranges.end()) return profiler->second.count;
  return std::max_element(
             ranges.begin(), ranges.end(),
             [](const auto& a, const auto& b) { return a.second.dur_ns < b.second.dur_ns; })
      ->second.count;
}

std::optional<std::int64_t> StepsSoFar::Count(const std::vector<std::string>& recordings) {
  std::optional<std::int64_t> fewest;
  for (const std::string& path : recordings) {
    Process& process = processes_[path];
    // Beside a write-ahead log a reader and the writer do not meet; elsewhere one waits for the
    // other, if there is one.
    std::error_code error;
    if (std::filesystem::exists(path + "-wal", error) || !HasWriter(path)) {
      const auto recording = OpenRecording(path);
      if (recording.ok()) process.Read(recording.value());
    }
    const std::int64_t steps = process.steps();
    if (steps > 0) fewest = std::min(fewest.value_or(steps), steps);
  }
  return fewest;
}

}  // namespace traceinject
