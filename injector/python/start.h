// SPDX-License-Identifier: Apache-2.0
// Brings hooks.py into the program's interpreter once torch is loaded.
//
// The writer thread asks the interpreter for a pending call (Py_AddPendingCall needs neither the
// GIL nor a thread state); the interpreter makes it on its main thread, between two byte codes. A
// program without Python, or whose Python never loads torch, is left alone: nothing is compiled
// before torch.optim or torch.utils.data is there.
#pragma once

#include <cstdint>

namespace traceinject {

class PythonStart {
 public:
  // In a process of a recording, from the writer thread, on CLOCK_MONOTONIC. Asks for a pending
  // call when it is time for the next try. O(1).
  void Tick(std::int64_t now_ns);

  // When Tick() wants to be called next; INT64_MAX: no more.
  std::int64_t next_ns() const { return next_ns_; }

 private:
  // Frequent at first, when torch is most likely there and steps would be missed; 24 minutes in
  // all, for programs that load it late.
  static constexpr int kMaxTries = 60;
  static constexpr std::int64_t kFirstWaitNs = 20'000'000;

  int tries_ = 0;
  std::int64_t next_ns_ = 0;
};

}  // namespace traceinject
