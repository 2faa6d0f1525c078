// SPDX-License-Identifier: Apache-2.0
// The log file of TRACEINJECT_LOG: what the library does, for finding out why it does not. Never
// the program's stdout or stderr, unless they are named. Only a file of this user, which nobody
// else may read, or a character device: nothing else is written to or waited for.
#pragma once

#include <string>

#include "injector/options/options.h"

namespace traceinject {

class Log {
 public:
  // Writes the options and their values first. An empty path or a file that cannot be opened makes
  // a log that swallows everything.
  void Open(const Options& options);
  void Line(const std::string& text);

 private:
  std::string path_;
};

}  // namespace traceinject
