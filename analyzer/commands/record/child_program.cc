// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/child_program.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

namespace traceinject {
namespace {

// Those of the terminal's stop and continue keep their effect: on this program as on the other.
constexpr int kPassed[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
constexpr int kNotFound = 127, kNotRun = 126, kBySignal = 128;

std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

ChildProgram::ChildProgram() {
  sigemptyset(&passed_);
  for (const int number : kPassed) sigaddset(&passed_, number);
  sigaddset(&passed_, SIGCHLD);
  sigprocmask(SIG_BLOCK, &passed_, &before_);
}

void ChildProgram::ForgetSignals() {
  const timespec none = {};
  while (sigtimedwait(&passed_, nullptr, &none) > 0) {
  }
}

void ChildProgram::LetGo() {
  if (!holds_signals_) return;
  holds_signals_ = false;
  ForgetSignals();
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

Status ChildProgram::Start(const std::vector<std::string>& words,
                           const std::vector<std::string>& environment) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &before_);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error = posix_spawnp(&pid_, words.front().c_str(), nullptr, &attributes,
                                 Pointers(words).data(), Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return Done{};
  exit_code_ = error == ENOENT ? kNotFound : kNotRun;
  return Error{fmt::format("{}: {}", words.front(),
                           error == ENOENT ? "no such program" : std::strerror(error))};
}

bool ChildProgram::Reap() {
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
  exit_code_ = WIFSIGNALED(status) ? kBySignal + WTERMSIG(status) : WEXITSTATUS(status);
  return true;
}

void ChildProgram::Wait(const std::function<void()>& now_and_then) {
  while (!Reap()) {
    siginfo_t info = {};
    const timespec second = {1, 0};
    const int number = sigtimedwait(&passed_, &info, &second);
    if (number < 0 && errno == EAGAIN) now_and_then();
    // The kernel's own: of the terminal, to all programs in its foreground.
    if (number <= 0 || number == SIGCHLD || info.si_code == SI_KERNEL) continue;
    kill(pid_, number);
  }
}

bool ChildProgram::WaitFor(const std::function<bool()>& is_done, int most_s) {
  // What came together with the end of the program was meant for it.
  ForgetSignals();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(most_s);
  while (!is_done()) {
    const timespec moment = {0, 100'000'000};
    const int number = sigtimedwait(&passed_, nullptr, &moment);
    if ((number > 0 && number != SIGCHLD) || std::chrono::steady_clock::now() > end) return false;
  }
  return true;
}

}  // namespace traceinject
