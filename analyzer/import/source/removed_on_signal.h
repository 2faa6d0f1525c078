// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

namespace traceinject {

// A file that disappears, together with its journal, when the process ends by Ctrl-C, SIGTERM or
// SIGHUP. Those signals keep their effect; where they are ignored (nohup) or handled by somebody
// else they stay so, and the file is left.
class RemovedOnSignal {
 public:
  // As mkostemp(): fills in the last six characters of `name` and returns the open descriptor, or
  // -1 with errno. There is no moment at which a signal would leave the file. Thread-safe.
  int Make(std::string& name);
  // It is removed no more.
  void Keep();

 private:
  struct Slot;
  struct Slots;
  static void Remove(int signal);
  static void WatchSignals();
  static Slots first_slots_;
  static std::atomic<bool> ending_;
  Slot* slot_ = nullptr;
};

}  // namespace traceinject
