// SPDX-License-Identifier: Apache-2.0
// Another program that runs in place of this one as far as anybody can see: its output, its signals
// and its exit code.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/common/result.h"

namespace traceinject {

class ChildProgram {
 public:
  // From now on, the signals that end or steer a program do not end this one.
  ChildProgram();
  ~ChildProgram() { LetGo(); }
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  // Starts `words` (looked for in PATH) with `environment`. Error: why it could not be; exit_code()
  // is then as a shell's, 127 for a program that is not there, else 126.
  Status Start(const std::vector<std::string>& words, const std::vector<std::string>& environment);

  // Until it ends; calls `now_and_then` each second. Signals sent to this process are passed on.
  // Those of the terminal (Ctrl-C) are not: the terminal sends them to the program itself, too.
  void Wait(const std::function<void()>& now_and_then);

  // After its end: waits until `is_done`, asked some times a second. False: somebody was tired of
  // waiting (Ctrl-C), or it took longer than `most_s`.
  bool WaitFor(const std::function<bool()>& is_done, int most_s);

  // From now on, signals have their effect on this program again. Those of before are forgotten.
  void LetGo();

  // As shells give it: that of the program, or 128 and the number of the signal that ended it.
  int exit_code() const { return exit_code_; }

 private:
  bool Reap();
  void ForgetSignals();

  sigset_t passed_, before_;
  bool holds_signals_ = true;
  pid_t pid_ = -1;
  int exit_code_ = 0;
};

}  // namespace traceinject
