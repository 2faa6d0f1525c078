// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/try/program_tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "analyzer/common/private_file.h"

namespace traceinject {
namespace {

constexpr int kBySignal = 128, kNotFound = 127;
constexpr auto kPatience = std::chrono::seconds(3);
constexpr auto kPause = std::chrono::milliseconds(20);

std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Of /proc/PID/stat: "PID (name) state parent ..."; the name may hold anything. -1: it is gone.
pid_t ParentOf(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(file, line);
  const std::size_t end = line.rfind(')');
  if (end == std::string::npos || line.size() < end + 5) return -1;
  pid_t parent = -1;
  std::from_chars(line.data() + end + 4, line.data() + line.size(), parent);
  return parent;
}

// All that descend from this process, parents first. O(processes of the machine).
std::vector<pid_t> Descendants() {
  std::map<pid_t, std::vector<pid_t>> children;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = -1;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr !=
        name.data() + name.size())
      continue;
    children[ParentOf(pid)].push_back(pid);
  }
  std::vector<pid_t> found = children[getpid()];
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<pid_t> own = children[found[i]];
    found.insert(found.end(), own.begin(), own.end());
  }
  return found;
}

// In the child, where nothing may allocate.
[[noreturn]] void BecomeProgram(const ProgramTree::Program& program, char* const* words,
                                char* const* variables, int log, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kBySignal + SIGTERM);  // it died before we asked to be told
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(input, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  if (!program.folder.empty() && chdir(program.folder.c_str()) != 0) {
    dprintf(STDERR_FILENO, "%s: %s\n", program.folder.c_str(), strerror(errno));
    _exit(kNotFound);
  }
  execvpe(words[0], words, variables);
  dprintf(STDERR_FILENO, "%s: %s\n", words[0],
          errno == ENOENT ? "no such program" : strerror(errno));
  _exit(kNotFound);
}

}  // namespace

ProgramTree::ProgramTree() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

Status ProgramTree::Start(const Program& program) {
  const int log =
      open(program.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kPrivateFileMode);
  if (log < 0) return Error{fmt::format("{}: {}", program.log, std::strerror(errno))};
  const std::vector<char*> words = Pointers(program.words),
                           variables = Pointers(program.environment);
  const pid_t parent = getpid();
  exit_code_ = 0;
  pid_ = fork();
  if (pid_ == 0) BecomeProgram(program, words.data(), variables.data(), log, parent);
  close(log);
  if (pid_ < 0) return Error{fmt::format("{}: {}", program.words.front(), std::strerror(errno))};
  return Done{};
}

bool ProgramTree::IsRunning() {
  int status = 0;
  for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
    if (pid != pid_) continue;
    exit_code_ = WIFSIGNALED(status) ? kBySignal + WTERMSIG(status) : WEXITSTATUS(status);
    pid_ = -1;
  }
  return pid_ > 0;
}

void ProgramTree::End() {
  const auto patience = std::chrono::steady_clock::now() + kPatience;
  bool asked = false;
  for (;;) {
    IsRunning();
    const std::vector<pid_t> left = Descendants();
    if (left.empty()) return;
    const bool kills = std::chrono::steady_clock::now() > patience;
    for (const pid_t pid : left) {
      if (kills || !asked) kill(pid, kills ? SIGKILL : SIGTERM);
    }
    asked = true;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace traceinject
