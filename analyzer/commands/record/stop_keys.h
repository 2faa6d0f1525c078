// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <termios.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "analyzer/common/stop_flag.h"

namespace traceinject {

// While one lives, q on the terminal, Ctrl-C and the signals that end a program ask for an end in
// place of ending it: what is being worked on can give up, and the terminal is left as it was. Made
// before other threads are.
class StopKeys {
 public:
  StopKeys();
  ~StopKeys();
  StopKeys(const StopKeys&) = delete;
  StopKeys& operator=(const StopKeys&) = delete;

  StopFlag flag() const { return &stop_; }
  // True: an end was asked for, before `time` was over.
  bool WaitFor(std::chrono::nanoseconds time);

 private:
  void Listen();
  void Stop();

  std::optional<termios> before_;  // of the terminal on stdin
  sigset_t mask_before_ = {};
  int signals_ = -1, end_ = -1;  // descriptors: of signals, and of our own end
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable asked_;
  std::thread listener_;
};

}  // namespace traceinject
