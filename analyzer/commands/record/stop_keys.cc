// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/stop_keys.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace traceinject {

StopKeys::StopKeys() {
  sigset_t asked;
  sigemptyset(&asked);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&asked, number);
  pthread_sigmask(SIG_BLOCK, &asked, &mask_before_);
  signals_ = signalfd(-1, &asked, SFD_CLOEXEC);
  end_ = eventfd(0, EFD_CLOEXEC);
  termios now = {};
  // In the background, reading or setting the terminal would stop the program.
  if (isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp() &&
      tcgetattr(STDIN_FILENO, &now) == 0) {
    before_ = now;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // keys at once, and not shown
    tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }
  listener_ = std::thread([this] { Listen(); });
}

StopKeys::~StopKeys() {
  eventfd_write(end_, 1);
  listener_.join();
  if (before_) tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
  close(signals_);
  close(end_);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

void StopKeys::Stop() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  asked_.notify_all();
}

void StopKeys::Listen() {
  pollfd wanted[] = {{end_, POLLIN, 0}, {signals_, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  if (!before_) wanted[2].fd = -1;
  while (poll(wanted, 3, -1) >= 0) {
    if (wanted[0].revents != 0) return;
    char key = 0;
    signalfd_siginfo taken = {};
    if (wanted[2].revents != 0 && read(STDIN_FILENO, &key, 1) != 1) wanted[2].fd = -1;
    // Taken, or it would end the program once signals are let through again.
    const bool signalled =
        wanted[1].revents != 0 && read(signals_, &taken, sizeof taken) == sizeof taken;
    if (signalled || key == 'q' || key == 'Q') return Stop();
  }
}

bool StopKeys::WaitFor(std::chrono::nanoseconds time) {
  std::unique_lock lock(mutex_);
  return asked_.wait_for(lock, time, [this] { return stop_.load(); });
}

}  // namespace traceinject
