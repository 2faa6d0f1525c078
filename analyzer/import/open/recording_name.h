// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

// What the name of a recording's file says. The library writes run.db, run.rank00003.db, and where
// another process has the name already run.p123.db or run.rank00003.p123.db; .zst is added by hand.
struct RecordingName {
  std::string stem;         // "run" of each of these; the whole name if it is that of no recording
  bool of_rank = false;     // it tells a rank
  bool of_process = false;  // it tells a process
};

// `name` is without folders. What follows ".db" is not looked at: run.db.zst, and a spool's note
// run.db.HOST.pPID.TIME.spool.
RecordingName ParseRecordingName(std::string_view name);

}  // namespace traceinject
