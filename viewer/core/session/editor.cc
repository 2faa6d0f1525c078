// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/editor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "analyzer/common/printable.h"
#include "viewer/core/session/environment_variable.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// How an editor is told the line.
enum class LineStyle : std::uint8_t {
  kNone,        // it opens the file
  kPlus,        // +LINE FILE
  kColon,       // FILE:LINE
  kGoto,        // --goto FILE:LINE
  kLineOption,  // --line LINE FILE
};

struct KnownEditor {
  std::string_view name;
  LineStyle style;
  bool in_terminal;
};
constexpr KnownEditor kEditors[] = {
    {"vi", LineStyle::kPlus, true},
    {"vim", LineStyle::kPlus, true},
    {"nvim", LineStyle::kPlus, true},
    {"nano", LineStyle::kPlus, true},
    {"pico", LineStyle::kPlus, true},
    {"micro", LineStyle::kPlus, true},
    {"kak", LineStyle::kPlus, true},
    {"joe", LineStyle::kPlus, true},
    {"ne", LineStyle::kPlus, true},
    {"mg", LineStyle::kPlus, true},
    {"hx", LineStyle::kColon, true},
    {"helix", LineStyle::kColon, true},
    {"emacs", LineStyle::kPlus, false},
    {"emacsclient", LineStyle::kPlus, false},
    {"gvim", LineStyle::kPlus, false},
    {"neovide", LineStyle::kPlus, false},
    {"gedit", LineStyle::kPlus, false},
    {"gnome-text-editor", LineStyle::kPlus, false},
    {"kate", LineStyle::kLineOption, false},
    {"pycharm", LineStyle::kLineOption, false},
    {"charm", LineStyle::kLineOption, false},
    {"code", LineStyle::kGoto, false},
    {"code-insiders", LineStyle::kGoto, false},
    {"codium", LineStyle::kGoto, false},
    {"vscodium", LineStyle::kGoto, false},
    {"cursor", LineStyle::kGoto, false},
    {"windsurf", LineStyle::kGoto, false},
    {"subl", LineStyle::kColon, false},
    {"zed", LineStyle::kColon, false},
    {"zeditor", LineStyle::kColon, false},
};

// What a terminal has before the command that it is to run.
struct KnownTerminal {
  std::string_view name, before;
};
constexpr KnownTerminal kTerminals[] = {
    {"gnome-terminal", "--"}, {"kgx", "--"},     {"ptyxis", "--"}, {"kitty", ""}, {"foot", ""},
    {"wezterm", "start"},     {"ghostty", "-e"},
};
constexpr std::string_view kUsualBefore = "-e";
constexpr std::string_view kUsualTerminal = "x-terminal-emulator";  // of Debian

// At spaces, but for those in quotation marks.
Words SplitCommand(std::string_view text) {
  Words words;
  std::optional<std::string> word;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word->push_back(c);
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      if (!word) word.emplace();
    } else if (c == ' ' || c == '\t') {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
    } else {
      if (!word) word.emplace();
      word->push_back(c);
    }
  }
  if (word) words.push_back(*std::move(word));
  return words;
}

std::string ProgramName(const std::string& program) {
  return fs::path(program).filename().string();
}

KnownEditor FindEditor(const Words& command) {
  const std::string name = ProgramName(command.front());
  const auto* const known = std::find_if(std::begin(kEditors), std::end(kEditors),
                                         [&](const KnownEditor& one) { return one.name == name; });
  KnownEditor editor =
      known == std::end(kEditors) ? KnownEditor{"", LineStyle::kNone, false} : *known;
  const auto has = [&](std::string_view option) {
    return std::find(command.begin(), command.end(), option) != command.end();
  };
  if (editor.name == "emacs") editor.in_terminal = has("-nw") || has("--no-window-system");
  if (editor.name == "emacsclient") editor.in_terminal = has("-t") || has("-nw") || has("--tty");
  if (editor.name == "vim") editor.in_terminal = !has("-g");
  return editor;
}

void AppendPlace(const std::string& file, std::int32_t line, LineStyle style, Words& command) {
  if (line <= 0) style = LineStyle::kNone;
  switch (style) {
    case LineStyle::kPlus:
      command.push_back(fmt::format("+{}", line));
      command.push_back(file);
      return;
    case LineStyle::kColon:
      command.push_back(fmt::format("{}:{}", file, line));
      return;
    case LineStyle::kGoto:
      command.emplace_back("--goto");
      command.push_back(fmt::format("{}:{}", file, line));
      return;
    case LineStyle::kLineOption:
      command.emplace_back("--line");
      command.push_back(fmt::format("{}", line));
      command.push_back(file);
      return;
    case LineStyle::kNone:
      break;
  }
  command.push_back(file);
}

bool IsOnPath(std::string_view program, std::string_view path) {
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(':'), path.size());
    const std::string file = fmt::format("{}/{}", path.substr(0, end), program);
    if (end > 0 && access(file.c_str(), X_OK) == 0) return true;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

// The terminal, up to where its command follows; empty: there is none.
Words TerminalCommand(const EditorEnvironment& environment) {
  Words command = SplitCommand(environment.terminal);
  if (command.empty() && IsOnPath(kUsualTerminal, environment.path))
    command.emplace_back(kUsualTerminal);
  if (command.empty()) return command;
  const std::string name = ProgramName(command.front());
  const auto* const known =
      std::find_if(std::begin(kTerminals), std::end(kTerminals),
                   [&](const KnownTerminal& one) { return one.name == name; });
  const std::string_view before = known == std::end(kTerminals) ? kUsualBefore : known->before;
  if (!before.empty()) command.emplace_back(before);
  return command;
}

// An absolute path begins with a slash: no editor takes it for an option or a command.
Result<std::string> FileToOpen(const std::string& recorded) {
  if (recorded.empty() || recorded.front() == '<') {
    return Error{"this code is in no file"};
  }
  std::error_code error;
  const fs::path file = fs::absolute(recorded, error);
  if (error || !fs::is_regular_file(file, error)) {
    return Error{Printable(recorded) + " is not on this machine"};
  }
  return file.lexically_normal().string();
}

void DropInput() {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
}

// In the child of a child, so that nobody has to wait for it. Tells why it could not.
[[noreturn]] void Become(std::span<char*> arguments, int report) {
  DropInput();
  execvp(arguments.front(), arguments.data());
  const int reason = errno;
  if (write(report, &reason, sizeof(reason)) < 0) _exit(126);
  _exit(127);
}

}  // namespace

EditorEnvironment ThisEnvironment() {
  return {EnvironmentVariable("VISUAL"), EnvironmentVariable("EDITOR"),
          EnvironmentVariable("TERMINAL"), EnvironmentVariable("PATH")};
}

Result<std::vector<std::string>> EditorCommand(const EditorPlace& place,
                                               const EditorEnvironment& environment) {
  const Result<std::string> file = FileToOpen(place.file);
  if (!file.ok()) return Error{file.error()};
  Words command = SplitCommand(environment.visual);
  if (command.empty()) command = SplitCommand(environment.editor);
  if (command.empty()) {
    return Error{"no editor is known: set the environment variable VISUAL or EDITOR"};
  }
  const KnownEditor editor = FindEditor(command);
  AppendPlace(file.value(), place.line, editor.style, command);
  if (!editor.in_terminal) return command;
  Words terminal = TerminalCommand(environment);
  if (terminal.empty()) {
    return Error{
        fmt::format("{} needs a terminal: set the environment variable TERMINAL, or VISUAL "
                    "to an editor with a window of its own",
                    editor.name)};
  }
  terminal.insert(terminal.end(), command.begin(), command.end());
  return terminal;
}

Status StartProgram(const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<int, 2> report = {};
  if (pipe2(report.data(), O_CLOEXEC) != 0) return Error{std::strerror(errno)};
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    const pid_t program = fork();
    if (program == 0) Become(arguments, report[1]);
    _exit(program < 0 ? 1 : 0);
  }
  close(report[1]);
  int status = 1, reason = 0;
  if (child > 0) waitpid(child, &status, 0);
  const bool failed = read(report[0], &reason, sizeof(reason)) > 0;
  close(report[0]);
  if (child < 0 || status != 0) return Error{"no process can be started"};
  if (failed)
    return Error{
        fmt::format("{} cannot be started: {}", Printable(command.front()), std::strerror(reason))};
  return Done{};
}

}  // namespace traceinject
