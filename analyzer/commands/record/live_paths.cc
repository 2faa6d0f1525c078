// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/live_paths.h"

#include <algorithm>
#include <filesystem>

#include "analyzer/import/open/run_paths.h"
#include "analyzer/import/open/writer_lock.h"

namespace traceinject {

LivePaths FindLivePaths(const std::vector<std::string>& paths) {
  LivePaths found;
  for (const std::string& path : paths) {
    std::vector<std::string> written, left;
    for (SpoolNote& note : SpoolNotesOf(path)) {
      if (note.recording.empty()) continue;
      std::error_code error;
      if (!std::filesystem::exists(note.recording, error)) {
        found.elsewhere.push_back(std::move(note));
      } else {
        (HasWriter(note.recording) ? written : left).push_back(note.recording);
      }
    }
    const bool is_there = ResolveRunPaths({path}).ok();
    std::vector<std::string>& spooled = is_there || !written.empty() ? written : left;
    // Without any the name is what errors are about.
    if (is_there || spooled.empty()) found.paths.push_back(path);
    found.paths.insert(found.paths.end(), spooled.begin(), spooled.end());
  }
  return found;
}

}  // namespace traceinject
