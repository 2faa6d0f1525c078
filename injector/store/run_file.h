// SPDX-License-Identifier: Apache-2.0
// run.db as the injector writes it: created under a claimed name, one transaction a batch, left as
// a single closed file.
//
// Used from one thread at a time (the writer thread). No call throws, prints, or touches a
// descriptor that is not ours, even after the program closed all descriptors behind our back (see
// guarded_io.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "injector/rows/rows.h"
#include "injector/store/slices.h"

namespace traceinject {

class RunFile {
 public:
  // kByFileSystem: a write-ahead log, which readers can follow without delaying us, but on network
  // file systems, where its shared memory is not safe, a rollback journal that is truncated after
  // each transaction.
  enum class Journal { kByFileSystem, kWriteAhead, kTruncate };

  struct Header {
    std::int64_t base_ns = 0;  // CLOCK_REALTIME of time 0
    std::string tool_version;
    ProcessRow process;  // its run_id is the file's, too
    Journal journal = Journal::kByFileSystem;
    std::optional<KeepLast> keep_last;  // empty: nothing is ever removed
  };

  // Creates the database under `wanted_path`, following the naming rules (claim.h): a live owner
  // makes us append `.p<pid>`, a dead one's file is moved aside. Null on failure, with the reason
  // in *why (a sentence that names the path and the error).
  static std::unique_ptr<RunFile> Create(const std::string& wanted_path, const Header& header,
                                         std::string* why);
  // Lets go without touching the disk further: for a forked child and for exits without time. The
  // memory and the descriptors stay: closing them would end the locks of this process, and in a
  // forked child SQLite must not run at all.
  ~RunFile();

  // Writes everything in `batch` in one transaction. On failure (disk full, file removed by
  // somebody, descriptors gone) nothing of it is stored, and the same batch may be tried again
  // later. Where opening the file again helps, that is done and the batch written once more. A
  // removed file is not made anew. O(rows).
  //
  // With Header::keep_last the oldest rows are removed in the same transaction as far as these need
  // room, and a row of capture_gap says from when on all is there.
  bool Write(const Batch& batch);

  // What the last transactions removed: dictionary rows that were not used after `flush`
  // (Batch::flush) are of no use to the file any more, but for those in `kept`.
  struct Removed {
    std::uint32_t flush = 0;  // 0: nothing
    KeptIds kept;
  };
  Removed TakeRemoved();

  // Records the end, checkpoints, switches to journal_mode=DELETE and closes: one file remains.
  // False if that failed, for example because a reader has the file open; what was committed is
  // safe in any case. Nothing can be written afterwards.
  bool Finish(std::int64_t end);

  const std::string& path() const;  // absolute
  std::int64_t bytes() const;       // database plus write-ahead log, on disk
  int reopened() const;             // times lost descriptors had to be opened again
  // A sentence about the last failure; empty: there was none.
  const std::string& last_error() const;

 private:
  struct State;
  explicit RunFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;  // never null
};

}  // namespace traceinject
