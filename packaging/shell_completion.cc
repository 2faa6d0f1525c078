// SPDX-License-Identifier: Apache-2.0
#include "packaging/shell_completion.h"

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

}  // namespace traceinject
