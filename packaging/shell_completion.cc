// SPDX-License-Identifier: Apache-2.0
#include "packaging/shell_completion.h"

#include <cstdio>
#include <string_view>

namespace traceinject {
namespace {

struct Shell {
  std::string_view name;
  std::string (*script)(const CompletedProgram&);
};
constexpr Shell kShells[] = {
    {"bash", BashCompletion},
    {"zsh", ZshCompletion},
    {"fish", FishCompletion},
};

}  // namespace

std::optional<std::string> ShellCompletion(const std::string& shell,
                                           const CompletedProgram& program) {
  for (const Shell& known : kShells) {
    if (known.name == shell) return known.script(program);
  }
  return std::nullopt;
}

int Describe(int argc, char** argv, const CompletedProgram& program,
             const std::function<std::string()>& manual) {
  const auto script = argc == 2 ? ShellCompletion(argv[1], program) : manual();
  if (!script) return 2;
  return std::fputs(script->c_str(), stdout) < 0 ? 1 : 0;
}

}  // namespace traceinject
