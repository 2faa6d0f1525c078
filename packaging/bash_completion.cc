// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "packaging/completion_words.h"
#include "packaging/shell_completion.h"

namespace traceinject {
namespace {

// Names of files are left to bash itself, which completes them where nothing is offered.
constexpr char kBashFunction[] = R"bash(
_@P@() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=@D@ i
  COMPREPLY=()
  # --name=value is three words.
  if [[ $word == "=" ]]; then
    word=
  elif [[ $before == "=" ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} == "--" ]]; then
      # What follows is another program and its arguments.
      ((i + 1 < COMP_CWORD)) || mapfile -t COMPREPLY < <(compgen -c -- "$word")
      return
    fi
  done
  if ((COMP_CWORD > 1)) && [[ " @C@ " == *" ${COMP_WORDS[1]} "* ]]; then
    command=${COMP_WORDS[1]}
  fi
  local choices options
  case "$command $before" in
@V@  esac
  case $command in
@O@  esac
  if [[ -n $choices && $word != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  elif ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "@C@" -- "$word")
  fi
}
complete -o bashdefault -o default -F _@P@ @P@
)bash";

std::string ValueCases(const CommandText& command) {
  std::string cases;
  for (const OptionText& option : command.options) {
    std::vector<std::string> patterns;
    for (const std::string& name : option.names)
      patterns.push_back(fmt::format("\"{} {}\"", ShortName(command), name));
    if (!option.choices.empty())
      cases += fmt::format("    {}) choices=\"{}\" ;;\n", Joined(patterns, " | "),
                           Joined(option.choices, " "));
  }
  // An argument with a fixed choice comes first, behind the command.
  for (const OptionText& argument : command.arguments) {
    if (!argument.choices.empty())
      cases += fmt::format("    \"{0} {0}\") choices=\"{1}\" ;;\n", ShortName(command),
                           Joined(argument.choices, " "));
  }
  return cases;
}

std::string OptionCase(const CommandText& command) {
  std::vector<std::string> names;
  for (const OptionText& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return fmt::format("    {}) options=\"{}\" ;;\n", ShortName(command), Joined(names, " "));
}

}  // namespace

std::string BashCompletion(const CompletedProgram& program) {
  std::vector<std::string> names;
  std::string values, options;
  for (const CommandText& command : program.commands) {
    if (command.name != program.name) names.push_back(ShortName(command));
    values += ValueCases(command);
    options += OptionCase(command);
  }
  std::string text = std::string(kCompletionHead) +
                     " bash-completion(7) loads it by itself; else: source FILE" +
                     std::string(kBashFunction);
  Replace(text, "@V@", values);
  Replace(text, "@O@", options);
  Replace(text, "@C@", Joined(names, " "));
  Replace(text, "@D@", program.otherwise);
  Replace(text, "@P@", program.name);
  return text;
}

}  // namespace traceinject
