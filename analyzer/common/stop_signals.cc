// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/stop_signals.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace traceinject {
namespace {

std::atomic<bool> stop_asked{false};
int stop_pipe[2] = {-1, -1};

void AskToStop(int) {
  stop_asked = true;
  const char letter = 's';
  [[maybe_unused]] const ssize_t ignored = write(stop_pipe[1], &letter, 1);
}

}  // namespace

bool StopSignals::Catch() {
  if (pipe(stop_pipe) != 0) return false;
  struct sigaction action = {};
  action.sa_handler = AskToStop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  return sigaction(SIGINT, &action, nullptr) == 0 && sigaction(SIGTERM, &action, nullptr) == 0;
}

StopFlag StopSignals::flag() { return &stop_asked; }

int StopSignals::fd() { return stop_pipe[0]; }

}  // namespace traceinject
