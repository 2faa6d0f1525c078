// SPDX-License-Identifier: Apache-2.0
// Who writes to which file name. A process claims a name before it records to it, so that two never
// write to one database and nothing recorded earlier is overwritten:
//
//   * nobody has the name: the file is created, locked from the first moment at which the name
//   exists
//   * a live process has it: `.p<pid>` is put before the extension (run.p123.db)
//   * its process is dead: the file moves aside with its -wal, -shm and -journal (run.db.1,
//   run.db.1-wal, ...), then as above
//
// The claim is a POSIX record lock (fcntl, F_SETLK) on one byte: it ends with the process however
// that dies, and forked children do not inherit it (flock and open-file-description locks live on
// in them). The price, see fcntl(2): it is dropped when the process closes *any* descriptor of the
// file. So close the claim only after SQLite closed the file, and call Retake() after SQLite closed
// or opened it, and regularly, since a program may read its own recording.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

namespace traceinject {

// mkdir -p. `folder` ends with a slash. True also if another process creates them at the same time.
bool MakeFolders(const std::string& folder, std::string* why);

class Claim {
 public:
  // Claims `wanted_path` or the name derived from it, and creates an empty file there; missing
  // folders are created. Null on failure, with a sentence in *why. O(number of files moved aside
  // earlier).
  static std::unique_ptr<Claim> Take(const std::string& wanted_path, std::string* why);

  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  // Absolute, so that it outlives a chdir.
  const std::string& path() const { return path_; }

  // True while `path()` is the file that was claimed: nobody removed, renamed or replaced it.
  bool NameIsOurs() const;

  // Locks again, through a new descriptor if ours was closed. False if the name is not ours any
  // more or another process locked the file meanwhile.
  bool Retake();

  // The same where the name was looked at just now: on network file systems each look is a question
  // to a server that all ranks ask.
  bool LockAgain();

  // Of the file, without its name; -1 if its descriptor was lost.
  std::int64_t bytes() const;

  // Removes the file with its sidecars, if the name is ours: for a recording that could not begin.
  void Discard();

 private:
  Claim(std::string path, int fd, dev_t device, ino_t inode);

  std::string path_;
  int fd_;
  dev_t device_;
  ino_t inode_;
};

}  // namespace traceinject
