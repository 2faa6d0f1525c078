// SPDX-License-Identifier: Apache-2.0
// A program and everything that it starts, so that all of it can be ended: also what goes on in
// sessions of its own, as torchrun's workers do, or outlives its parent.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "analyzer/common/result.h"

namespace traceinject {

class ProgramTree {
 public:
  struct Program {
    std::vector<std::string> words;        // the first is looked for in PATH
    std::vector<std::string> environment;  // NAME=VALUE
    std::string folder;                    // that it runs in; empty: this one
    std::string log;                       // file that its output goes to
  };

  // This process becomes the parent of what loses its own. It must have no other children.
  ProgramTree();
  ~ProgramTree() { End(); }
  ProgramTree(const ProgramTree&) = delete;
  ProgramTree& operator=(const ProgramTree&) = delete;

  // Nothing must run. Its input is empty, and signals have their usual effect on it; it is told
  // (SIGTERM) when this process dies. Error: why it could not be started.
  Status Start(const Program& program);

  // False once the program itself has ended. Collects what ended.
  bool IsRunning();

  // Asks all to end (SIGTERM), and after some seconds does not ask (SIGKILL). Nothing of them is
  // left when it returns.
  void End();

  // As a shell gives it, after its end.
  int exit_code() const { return exit_code_; }

 private:
  pid_t pid_ = -1;  // -1: it ended
  int exit_code_ = 0;
};

}  // namespace traceinject
