// SPDX-License-Identifier: Apache-2.0
// Files that take their place as a whole. In a folder that others write to, somebody may have put
// a link or a file of his there before: neither is written to, followed, or lends its permissions.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/import/source/removed_on_signal.h"
#include "analyzer/import/source/temporary_file.h"

namespace traceinject {

// Whether what stands at `path` is written to as it is: a pipe, a terminal, /dev/stdout. A link to
// one too, unless it is somebody else's.
bool IsWrittenInPlace(const std::string& path);

// Opens such a one. -1 with errno.
int OpenInPlace(const std::string& path);

// Written beside its place under another name, and gone with its owner or by Ctrl-C until then.
class NewFile {
 public:
  explicit NewFile(const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;

  // -1: it could not be made, errno says why.
  int descriptor() const { return file_.get(); }
  // Takes its place. The user's own file that stands there may have been shared: its permissions
  // stay. Otherwise it is for its owner only. False with errno.
  bool TakePlace();

 private:
  std::string path_, beside_;
  RemovedOnSignal removed_;
  FileDescriptor file_;
  bool there_;
};

struct WriteFailure {
  int error = 0;  // errno
  bool opened = false;
};

// All of `data`, in place of what is there, or in place where that is how it is written. Where the
// folder does not allow new files, the user's own file is written over. error 0: done.
WriteFailure WriteWhole(const std::string& path, std::string_view data);

}  // namespace traceinject
