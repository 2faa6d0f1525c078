// SPDX-License-Identifier: Apache-2.0
// The jobs whose recordings lie in a folder or below it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/commands/serve/job_files.h"
#include "analyzer/import/open/group_recordings.h"

namespace traceinject {

class JobFolder {
 public:
  explicit JobFolder(std::string folder) : folder_(std::move(folder)) {}

  // Those there are now, sorted by name; which recordings of a folder are of one job:
  // GroupRecordings. Also recordings that are still in their spool on this machine. A job is called
  // by its folder and its file, "vision/big" for vision/big.db, and for files called run by their
  // folder alone. Folders that begin with a dot, and links to folders, are passed over. O(files);
  // a recording is opened again only after it has changed, and only where there are others beside
  // it.
  std::vector<JobFiles> Find();

 private:
  using Folders = std::map<std::string, std::vector<NamedRecording>>;  // by folder, from folder_

  Folders List() const;
  std::set<std::string> MarksOf(const std::string& path);

  std::string folder_;
  std::map<std::string, std::pair<JobState, std::set<std::string>>> marks_;  // known, by path
};

}  // namespace traceinject
