// SPDX-License-Identifier: Apache-2.0
// Which recordings of a folder are of one job.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace traceinject {

struct NamedRecording {
  std::string path;
  std::string name;  // the file's, or the one that it will have (recordings in a spool)
};

struct RecordingGroup {
  std::string stem;  // as ParseRecordingName; of several the first
  bool several_stems = false;
  bool of_ranks = false;           // a name tells a rank
  std::vector<std::string> paths;  // sorted
};

// NCCL's communicators of several ranks, which recordings of one job tell and those of no other.
// None of what cannot be opened, nor of *.zst: to unpack it would take as long as to read it.
std::set<std::string> CommunicatorMarks(const std::string& path);
// Beside these the run that a launcher named. The user may have chosen it, the same each night.
std::set<std::string> RunMarks(const std::string& path);

// Of one job are recordings that are called alike but for their rank, and those that have a mark in
// common. A name that tells a process but no rank says nothing: it may be another job that ran at
// the same time. Sorted by stem. `marks` is asked for one recording of each name, where there are
// several names. O(n log n).
std::vector<RecordingGroup> GroupRecordings(
    const std::vector<NamedRecording>& recordings,
    const std::function<std::set<std::string>(const std::string& path)>& marks);

}  // namespace traceinject
