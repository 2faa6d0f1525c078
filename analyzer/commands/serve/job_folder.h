// SPDX-License-Identifier: Apache-2.0
// The jobs whose recordings lie in a folder or below it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/commands/serve/job_files.h"

namespace traceinject {

class JobFolder {
 public:
  explicit JobFolder(std::string folder) : folder_(std::move(folder)) {}

  // Those there are now, sorted by name. Of one job are: a recording; recordings of one folder that
  // are called alike but for their rank (run.rank00000.db, ...); and those of one folder that tell
  // the same run. Also recordings that are still in their spool on this machine. A job is called by
  // its folder and its file, "vision/big" for vision/big.db, and for files called run by their
  // folder alone. Folders that begin with a dot, and links to folders, are passed over. O(files);
  // each recording is opened once, and only where there are others beside it.
  std::vector<JobFiles> Find();

 private:
  struct Recording {
    std::string path, stem;  // stem: without rank and extensions
  };
  using Folders = std::map<std::string, std::vector<Recording>>;  // by folder, from folder_

  Folders List() const;
  std::optional<std::string> RunOf(const std::string& path);

  std::string folder_;
  std::map<std::string, std::pair<JobState, std::string>> runs_;  // run IDs that are known, by path
};

}  // namespace traceinject
