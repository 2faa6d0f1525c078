// SPDX-License-Identifier: Apache-2.0
// The file beside a recording, which is never written to, with what the user added to it: marks,
// and which rows are shown.
//
// It is JSON, with times since the epoch and rows by their ids, so that it fits whichever files of
// the run are read together:
//   {"format": "traceview sidecar", "version": 2, "marks": [
//    {"start_unix_ns": 1700000000001000000, "end_unix_ns": 1700000000001000000,
//     "text": "slow step", "color": "#ffb74d"}],
//    "rows": {"folded": [], "opened": ["rank 0/GPU 0/samples"], "hidden": ["rank 0/host"],
//             "pinned": [], "order": []}}
// Version 1, "traceview marks", had no rows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/model/run.h"
#include "analyzer/view/rows/row_choices.h"
#include "viewer/core/load/latest_task.h"
#include "viewer/core/session/annotations.h"

namespace traceinject {

struct SidecarContent {
  std::vector<Mark> marks;
  SavedRows rows;
};

// As in the file. `base_ns` as in Run.
std::string SidecarJson(const SidecarContent& content, std::int64_t base_ns);
Result<SidecarContent> ReadSidecarJson(const std::string& json, std::int64_t base_ns);

// "run.db.marks.json" beside the first file of the run; empty for a run without files.
std::string SidecarPath(const Run& run);

class Sidecar {
 public:
  // An empty path: nothing is read or written.
  explicit Sidecar(std::string path) : path_(std::move(path)) {}
  // What was to be written is written first.
  ~Sidecar() { Wait(); }
  Sidecar(const Sidecar&) = delete;
  Sidecar& operator=(const Sidecar&) = delete;

  // What is in the file; nothing if there is none, or if it is not understood: that is then never
  // written over. `base_ns` as in Run.
  SidecarContent Read(std::int64_t base_ns);
  // Beside the caller, who does not wait; of several the last.
  void Write(const SidecarContent& content, std::int64_t base_ns);

  // From here on another one writes the file; what this one is told to write is lost, which
  // problem() then says.
  void LeaveToAnother() { is_left_ = true; }

  // Why the file was not read, or not written the last time; empty if all is well.
  std::string problem() const;
  // Whether something is still being written.
  bool busy() const { return writing_ && writing_->busy(); }
  void Wait() const {
    if (writing_) writing_->Wait();
  }

 private:
  std::string path_;
  std::string not_read_;
  bool is_left_ = false, lost_ = false;
  std::unique_ptr<LatestTask<std::string, Status>> writing_;  // null until there is something
};

}  // namespace traceinject
