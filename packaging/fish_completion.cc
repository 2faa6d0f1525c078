// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "packaging/completion_words.h"
#include "packaging/shell_completion.h"

namespace traceinject {
namespace {

// Names of files are fish's own, which offers them where it is not reported otherwise.
constexpr char kFunctions[] = R"fish(

# Whether the words so far are of this command, and as many if a number follows.
function __@P@_is
    set -l words (commandline -opc)
    contains -- -- $words; and return 1
    set -l command @D@
    if set -q words[2]; and contains -- $words[2] @C@
        set command $words[2]
        set -e words[2]
    end
    test $command = $argv[1]; or return 1
    set -q argv[2]; or return 0
    test (count $words) -eq $argv[2]
end

function __@P@_runs_another
    contains -- -- (commandline -opc)
end

# What follows -- is another program and its arguments.
function __@P@_complete_another
    set -l words (commandline -opc)
    set -l before (contains -i -- -- $words)
    complete -C (string join -- ' ' (string escape -- $words[(math $before + 1)..]) (commandline -ct))
end

complete -c @P@ -n __@P@_runs_another -x -a '(__@P@_complete_another)'
)fish";

// Beginning of a line of a command.
std::string Complete(const CompletedProgram& program, const std::string& when) {
  return fmt::format("complete -c {} -n {}", program.name, QuotedForFish(when));
}

std::string Described(const std::string& help) {
  return fmt::format(" -d {}\n", QuotedForFish(Brief(help)));
}

std::string OptionLines(const CompletedProgram& program, const CommandText& command) {
  std::string lines;
  for (const OptionText& option : command.options) {
    lines += Complete(program, fmt::format("__{}_is {}", program.name, ShortName(command)));
    for (const std::string& name : option.names) {
      const bool is_long = name.starts_with("--");
      lines += fmt::format(" -{} {}", is_long ? 'l' : 's', name.substr(is_long ? 2 : 1));
    }
    if (!option.choices.empty())
      lines += fmt::format(" -x -a {}", QuotedForFish(Joined(option.choices, " ")));
    else if (!option.value.empty())
      lines += " -r";
    lines += Described(option.help);
  }
  return lines;
}

std::string ArgumentLines(const CompletedProgram& program, const CommandText& command) {
  std::string lines;
  int place = 1;
  for (const OptionText& argument : command.arguments) {
    if (!argument.choices.empty())
      lines +=
          Complete(program, fmt::format("__{}_is {} {}", program.name, ShortName(command), place)) +
          fmt::format(" -f -a {}", QuotedForFish(Joined(argument.choices, " "))) +
          Described(argument.help);
    ++place;
  }
  return lines;
}

}  // namespace

std::string FishCompletion(const CompletedProgram& program) {
  std::vector<std::string> names;
  std::string lines;
  for (const CommandText& command : program.commands) {
    if (command.name != program.name) {
      names.push_back(ShortName(command));
      lines += Complete(program, fmt::format("__{}_is {} 1", program.name, program.otherwise)) +
               " -a " + names.back() + Described(command.about);
    }
    lines += OptionLines(program, command) + ArgumentLines(program, command);
  }
  std::string text =
      std::string(kCompletionHead) + " fish loads it by itself; else: source FILE" + kFunctions;
  Replace(text, "@C@", Joined(names, " "));
  Replace(text, "@D@", program.otherwise);
  Replace(text, "@P@", program.name);
  return text + lines;
}

}  // namespace traceinject
