// SPDX-License-Identifier: Apache-2.0
// From what the user names to the files that are meant.
#pragma once

#include <string>
#include <vector>

#include "analyzer/common/result.h"

namespace traceinject {

struct RunPaths {
  std::vector<std::string>
      files;  // at least one, each once, in the order named, those of one folder by name
  std::vector<std::string> notes;  // what lies there and was not taken, in words
};

// What a path may stand for, beside files that are named themselves.
enum class PathsTo {
  kRecordings,
  // Also summaries (*.summary), where the recording that each was made from does not lie beside it.
  kRecordingsOrSummaries,
};

// What is added to the name of a recording without ".db" or ".db.zst".
inline constexpr char kSummarySuffix[] = ".summary";

// Each path may be
//   - a file, as recorded (run.db) or compressed (run.db.zst);
//   - a name that does not exist but whose .zst or per-rank siblings do: run.db stands for
//   run.rank*.db;
//   - a folder: every recording directly in it (*.db, *.db.zst; moved-aside run.db.1 are older runs
//   and not taken).
// Errors: a sentence if a path stands for no file. Whether the files are recordings is not looked
// at.
Result<RunPaths> ResolveRunPaths(const std::vector<std::string>& paths,
                                 PathsTo kinds = PathsTo::kRecordings);

// The name of a recording's summary in `folder`: out/run.rank00003.summary of run.rank00003.db.zst.
std::string SummaryPath(const std::string& folder, const std::string& recording);

// Recordings in a folder, sorted by name; empty if it cannot be listed. Also for "did you mean"
// lists.
std::vector<std::string> RecordingsInFolder(const std::string& folder);

// Notes on recordings that have not come to their place there (*.spool), sorted by name.
std::vector<std::string> NotesInFolder(const std::string& folder);

// What traces of other profilers are named in a folder, in words.
inline constexpr char kTraceNames[] = "*.json, *.json.gz, *.sqlite or *.rpd";

// Files of these names in a folder, sorted by name; of x.json and x.json.gz only x.json. Not
// traceview's *.marks.json and the *.comm_groups.json of exports.
std::vector<std::string> TracesInFolder(const std::string& folder);

}  // namespace traceinject
