// SPDX-License-Identifier: Apache-2.0
// Recordings that are written in another folder before they come to their place
// (TRACEINJECT_SPOOL). Until then a note of one line, HOST:/PATH, lies beside the place: that of
// run.db is run.db.HOST.pPID.TIME.spool (injector/store/spool.h).
#pragma once

#include <string>
#include <vector>

namespace traceinject {

struct SpoolNote {
  std::string path;             // of the note
  std::string text;             // its line
  std::string host, recording;  // empty: the line tells none
};

SpoolNote ReadSpoolNote(const std::string& path);

// Those of recordings that the path stands for, by the rules of ResolveRunPaths, sorted by name.
std::vector<SpoolNote> SpoolNotesOf(const std::string& path);

}  // namespace traceinject
