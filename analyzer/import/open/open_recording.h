// SPDX-License-Identifier: Apache-2.0
// Opens a run.db for reading and never changes it, its folder or its -wal, whatever state the
// recording process left it in.
#pragma once

#include <optional>
#include <string>

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"

namespace traceinject {

// The newest version of schemas/run_db.sql that can be read, and the file's mark ('TRJ1').
inline constexpr int kSchemaVersion = 8;
inline constexpr int kApplicationId = 0x54524A31;
// Since this version stacks tell in which modules of PyTorch they are.
inline constexpr int kModulesSince = 7;

// A connection inside one read transaction, so that all reads see the same moment.
//
//   - A finished file is opened as immutable: no lock, no side file, so it works in a read-only
//   folder.
//   - One with a -wal whose process is gone is read with the write-ahead index in memory: no -shm
//   is made, nothing is checkpointed.
//   - One that is being written is followed through SQLite's own locks.
//   - One with a rollback journal (network file systems) is rolled back in a private copy.
//   - A .zst is unpacked into a private temporary file that is unlinked at once.
//
// Errors, each a sentence: missing, a folder, not a plain file, empty, truncated, not a database,
// not a recording, written by a newer version, damaged.
Result<Database> OpenRecording(const std::string& path);

// The same of a file that is known to be finished, and that errors call `name`.
Result<Database> OpenFinished(const std::string& path, const std::string& name);

// The same of any database of SQLite, whoever wrote it, and what there is to say if it is not a
// recording that can be read.
Result<Database> OpenDatabase(const std::string& path);
Status ExpectRecording(const Database& database);

// Another connection to the same recording, for another thread. Empty: only a finished file that
// has a name is certain to look the same to both.
std::optional<Database> OpenBeside(const Database& recording);

}  // namespace traceinject
