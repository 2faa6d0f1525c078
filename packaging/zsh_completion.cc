// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "packaging/completion_words.h"
#include "packaging/shell_completion.h"

namespace traceinject {
namespace {

constexpr char kZshFunction[] = R"zsh(

_@P@() {
  local command=@D@
  local -a subcommands=(
@C@  )
  local -i dashes=${words[(i)--]}
  if (( dashes < CURRENT )); then
    # What follows is another program and its arguments.
    shift $dashes words
    (( CURRENT -= dashes ))
    _normal
    return
  fi
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]] && (( $#subcommands )); then
    _alternative 'commands:command:(($subcommands))' 'files:file:_files'
    return
  fi
  if (( CURRENT > 2 && ${subcommands[(I)$words[2]:*]} )); then
    command=$words[2]
    shift words
    (( --CURRENT ))
  fi
  case $command in
@O@  esac
}

# Loaded by compinit it is called, sourced it is announced.
if [[ $funcstack[1] == _@P@ ]]; then
  _@P@ "$@"
else
  compdef _@P@ @P@
fi
)zsh";

// What ends a part of the text in _arguments and _alternative.
std::string Escaped(std::string text) {
  Replace(text, "\\", "\\\\");
  for (const char* special : {"[", "]", ":"}) Replace(text, special, std::string("\\") + special);
  return text;
}

// ":FILE:_files", ":FORMAT:(text json)".
std::string ValuePart(const OptionText& option) {
  const std::string what =
      option.choices.empty() ? "_files" : fmt::format("({})", Joined(option.choices, " "));
  return fmt::format(":{}:{}", Escaped(option.value), what);
}

std::string OptionSpecs(const CommandText& command) {
  std::string specs;
  for (const OptionText& option : command.options) {
    for (const std::string& name : option.names) {
      // The name may be joined with the value: --name=value, -nvalue.
      const char* const joined = option.value.empty() ? "" : name.starts_with("--") ? "=" : "+";
      // Given once, it is not offered again under any of its names.
      const std::string once = option.repeated ? "*" : "(" + Joined(option.names, " ") + ")";
      const std::string value = option.value.empty() ? "" : ValuePart(option);
      specs += " \\\n        " + QuotedForPosix(fmt::format("{}{}{}[{}]{}", once, name, joined,
                                                            Escaped(Brief(option.help)), value));
    }
  }
  return specs;
}

std::string ArgumentSpecs(const CommandText& command) {
  std::string specs;
  int place = 1;
  for (const OptionText& argument : command.arguments) {
    const std::string where = argument.repeated ? "*" : std::to_string(place++);
    specs += " \\\n        " + QuotedForPosix(where + ValuePart(argument));
  }
  return specs;
}

}  // namespace

std::string ZshCompletion(const CompletedProgram& program) {
  std::string commands, options;
  for (const CommandText& command : program.commands) {
    const std::string name = ShortName(command);
    if (command.name != program.name)
      commands +=
          fmt::format("    {}\n", QuotedForPosix(name + ":" + Escaped(Brief(command.about))));
    options += fmt::format("    {})\n      _arguments -S{}{}\n      ;;\n", name,
                           OptionSpecs(command), ArgumentSpecs(command));
  }
  std::string text = "#compdef " + program.name + "\n" + kCompletionHead +
                     " compinit finds it in a folder of $fpath; else: source FILE" + kZshFunction;
  Replace(text, "@C@", commands);
  Replace(text, "@O@", options);
  Replace(text, "@D@", program.otherwise);
  Replace(text, "@P@", program.name);
  return text;
}

}  // namespace traceinject
