// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/open/group_recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/import/open/open_recording.h"
#include "analyzer/import/open/recording_name.h"

namespace traceinject {
namespace {

// The first column of each row; nothing if the recording has no such table.
std::set<std::string> MarksOf(const std::string& path, const char* query) {
  std::set<std::string> marks;
  if (path.ends_with(".zst")) return marks;
  const auto recording = OpenRecording(path);
  if (!recording.ok()) return marks;
  auto rows = recording.value().Prepare(query);
  if (!rows.ok()) return marks;
  while (true) {
    const auto found = rows.value().Step();
    if (!found.ok() || !found.value()) return marks;
    marks.emplace(rows.value().text(0));
  }
}

std::vector<RecordingGroup> GroupByName(const std::vector<NamedRecording>& recordings) {
  std::map<std::string, RecordingGroup> groups;
  for (const NamedRecording& recording : recordings) {
    RecordingName name = ParseRecordingName(recording.name);
    if (name.of_process && !name.of_rank)
      name.stem = recording.name.substr(0, recording.name.find(".db", name.stem.size()));
    RecordingGroup& group = groups[name.stem];
    group.stem = name.stem;
    group.of_ranks |= name.of_rank;
    group.paths.push_back(recording.path);
  }
  std::vector<RecordingGroup> by_name;
  for (auto& [stem, group] : groups) {
    std::sort(group.paths.begin(), group.paths.end());
    by_name.push_back(std::move(group));
  }
  return by_name;
}

void Add(RecordingGroup&& more, RecordingGroup* to) {
  to->several_stems = true;
  to->of_ranks |= more.of_ranks;
  to->paths.insert(to->paths.end(), more.paths.begin(), more.paths.end());
  std::sort(to->paths.begin(), to->paths.end());
}

}  // namespace

std::set<std::string> CommunicatorMarks(const std::string& path) {
  return MarksOf(path,
                 "SELECT DISTINCT 'communicator ' || hash || ' of ' || size "
                 "FROM communicator WHERE size > 1");
}

std::set<std::string> RunMarks(const std::string& path) {
  std::set<std::string> marks =
      MarksOf(path, "SELECT 'run ' || value FROM meta WHERE key = 'run_id' AND value != ''");
  marks.merge(CommunicatorMarks(path));
  return marks;
}

std::vector<RecordingGroup> GroupRecordings(
    const std::vector<NamedRecording>& recordings,
    const std::function<std::set<std::string>(const std::string& path)>& marks) {
  std::vector<RecordingGroup> by_name = GroupByName(recordings);
  if (by_name.size() < 2) return by_name;
  std::vector<RecordingGroup> groups;
  std::map<std::string, std::size_t> of_mark;
  for (RecordingGroup& group : by_name) {
    const std::set<std::string> own = marks(group.paths.front());
    const auto known = std::find_if(own.begin(), own.end(),
                                    [&](const auto& mark) { return of_mark.contains(mark); });
    const std::size_t at = known == own.end() ? groups.size() : of_mark.at(*known);
    for (const std::string& mark : own) of_mark.emplace(mark, at);
    if (at == groups.size()) {
      groups.push_back(std::move(group));
    } else {
      Add(std::move(group), &groups[at]);
    }
  }
  return groups;
}

}  // namespace traceinject
