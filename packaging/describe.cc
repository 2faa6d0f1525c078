// SPDX-License-Identifier: Apache-2.0
#include "packaging/describe.h"

#include <cstdio>

namespace traceinject {

int Describe(int argc, char** argv, const CompletedProgram& program,
             const std::function<std::string()>& manual) {
  const auto script = argc == 2 ? ShellCompletion(argv[1], program) : manual();
  if (!script) return 2;
  return std::fputs(script->c_str(), stdout) < 0 ? 1 : 0;
}

}  // namespace traceinject
