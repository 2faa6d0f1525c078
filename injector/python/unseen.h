// SPDX-License-Identifier: Apache-2.0
// While our own Python runs inside a call of the program's.
#pragma once

#include "injector/python/interpreter.h"

namespace traceinject {

// While it lives, the program's tracers and profilers (sys.settrace, sys.setprofile,
// sys.monitoring, torch.profiler with stacks) do not see what the thread runs. Before CPython 3.11
// they cannot be kept from it.
class Unseen {
 public:
  explicit Unseen(const Interpreter& python) : python_(python) {
    if (python_.PyThreadState_EnterTracing == nullptr) return;
    thread_ = python_.PyThreadState_Get();
    python_.PyThreadState_EnterTracing(thread_);
  }
  ~Unseen() {
    if (thread_ != nullptr) python_.PyThreadState_LeaveTracing(thread_);
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

 private:
  const Interpreter& python_;
  void* thread_ = nullptr;
};

// False: an exception is set that is the program's, as its signal handlers may run while we do. One
// of ours ends here.
inline bool ClearOurs(const Interpreter& python) {
  if (python.PyErr_Occurred() == nullptr) return true;
  if (python.PyErr_ExceptionMatches(*python.PyExc_Exception) == 0) return false;
  python.PyErr_Clear();
  return true;
}

}  // namespace traceinject
