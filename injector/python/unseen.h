// SPDX-License-Identifier: Apache-2.0
// While our own Python runs inside a call of the program's.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "injector/base/counters.h"
#include "injector/python/interpreter.h"
#include "injector/python/owned.h"

namespace traceinject {

// While it lives, the program's tracers and profilers (sys.settrace, sys.setprofile,
// sys.monitoring, torch.profiler with stacks) do not see what the thread runs. Before CPython 3.11
// they cannot be kept from it: see MayRun().
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

// Whether no tracer or profiler of the thread would see what it runs. Functions of C that C calls
// are not seen, which is how we ask.
inline bool IsUnseen(const Interpreter& python) {
  if (python.PyThreadState_EnterTracing != nullptr) return true;
  for (const char* name : {"getprofile", "gettrace"}) {
    PyObject* const ask = python.PySys_GetObject(name);
    if (ask == nullptr) return false;
    const Owned tracer(python, python.PyObject_CallObject(ask, nullptr));
    if (tracer.get() != python._Py_NoneStruct) {
      python.PyErr_Clear();
      return false;
    }
  }
  return true;
}

// Whether the thread is far enough from the limit of recursion for what we run. CPython 3.8 and 3.9
// end the process where an error of recursion is caught and the limit is met again; later ones take
// it for an error like others.
inline bool HasRoom(const Interpreter& python) {
  const std::string_view version = python.Py_GetVersion();
  if (!version.starts_with("3.8.") && !version.starts_with("3.9.")) return true;
  // PyThreadState of these two: previous, next, interpreter, frame, recursion_depth.
  constexpr std::size_t kDepth = 4 * sizeof(void*);
  constexpr int kNeeded = 100;
  int depth = 0;
  std::memcpy(&depth, static_cast<const char*>(python.PyThreadState_Get()) + kDepth, sizeof depth);
  return depth >= 0 && depth < python.Py_GetRecursionLimit() - kNeeded;
}

// Whether Python of ours may run now. If not, that is counted. With the GIL; leaves no exception.
// `even_seen`: also where tracers see it.
inline bool MayRun(const Interpreter& python, bool even_seen = false) {
  if (HasRoom(python) && (even_seen || IsUnseen(python))) return true;
  g_counters.Add(Health::kPythonUnobserved);
  return false;
}

// How the file name of our script's code ends, which no file has.
inline constexpr std::string_view kScript = "<traceinject>";

// Whether `code` is our script's.
inline bool IsOurCode(const Interpreter& python, PyObject* code) {
  const Owned file(python, python.PyObject_GetAttrString(code, "co_filename"));
  const char* const name = file ? python.PyUnicode_AsUTF8(file.get()) : nullptr;
  return name != nullptr && std::string_view(name).ends_with(kScript);
}

// Whether only code of ours ran when it was raised: we call C alone, so that another frame is that
// of a signal handler of the program's, which may run while we do (also one that is no longer
// installed). With the GIL; leaves no exception.
inline bool IsOurTraceback(const Interpreter& python, PyObject* traceback) {
  python.Py_IncRef(traceback);
  PyObject* at = traceback;
  bool ours = true;
  while (ours && at != python._Py_NoneStruct) {
    const Owned here(python, at);
    const Owned frame(python, python.PyObject_GetAttrString(at, "tb_frame"));
    const Owned code(python,
                     frame ? python.PyObject_GetAttrString(frame.get(), "f_code") : nullptr);
    at = code && IsOurCode(python, code.get()) ? python.PyObject_GetAttrString(at, "tb_next")
                                               : nullptr;
    ours = at != nullptr;
  }
  if (ours) python.Py_DecRef(at);
  python.PyErr_Clear();
  return ours;
}

// False: an exception is set that is the program's, raised by a signal handler while we ran. One of
// ours ends here.
inline bool ClearOurs(const Interpreter& python) {
  if (python.PyErr_Occurred() == nullptr) return true;
  if (python.PyErr_ExceptionMatches(*python.PyExc_Exception) == 0) return false;
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  python.PyErr_Fetch(&type, &value, &traceback);
  if (traceback != nullptr && !IsOurTraceback(python, traceback)) {
    python.PyErr_Restore(type, value, traceback);
    return false;
  }
  for (PyObject* part : {type, value, traceback}) {
    if (part != nullptr) python.Py_DecRef(part);
  }
  return true;
}

}  // namespace traceinject
