// SPDX-License-Identifier: Apache-2.0
#include "injector/python/start.h"

#include <atomic>
#include <string>

#include "injector/base/counters.h"
#include "injector/base/state.h"
#include "injector/python/hooks_py.h"
#include "injector/python/interpreter.h"
#include "injector/python/report_functions.h"
#include "injector/python/unseen.h"

namespace traceinject {
namespace {

// Process-wide and never destroyed: a pending call may be made after the writer thread left.
struct Shared {
  Interpreter python{};
  // The dictionary in which the script ran. Set and used in pending calls only.
  std::atomic<PyObject*> globals{nullptr};
  std::atomic<bool> outstanding{false};  // a pending call was asked for and not made yet
  std::atomic<bool> done{false};         // nothing is left to do
};
constinit Shared g_shared;

constexpr int kFileInput = 257;  // Py_file_input: the start symbol of a module
// As in hooks.py.
constexpr int kParts = 9;
constexpr long kAgain = 1 << 2 * kParts;

// A module that is loaded (borrowed), or null.
PyObject* Loaded(const Interpreter& python, const char* module) {
  PyObject* modules = python.PyImport_GetModuleDict();
  return modules == nullptr ? nullptr : python.PyDict_GetItemString(modules, module);
}

// The file name of the script's code: inside torch's folder of utilities, which every torch.compile
// skips. In a folder that it does not know it would compile our functions when they run inside a
// compiled region.
std::string ScriptName(const Interpreter& python) {
  std::string folder;
  PyObject* torch = Loaded(python, "torch");
  PyObject* file = torch == nullptr ? nullptr : python.PyObject_GetAttrString(torch, "__file__");
  const char* path = file == nullptr ? nullptr : python.PyUnicode_AsUTF8(file);
  if (path != nullptr) folder = path;
  if (file != nullptr) python.Py_DecRef(file);
  python.PyErr_Clear();  // a module without a file, or with a strange one
  folder.erase(folder.rfind('/') + 1);
  return folder.append("utils/").append(kScript);
}

// The dictionary of the script before it ran: the functions that it calls, and what every code
// needs. No __name__: the script is no module that somebody could import. Null: an exception is
// set.
PyObject* MakeGlobals(const Interpreter& python) {
  PyObject* globals = python.PyDict_New();
  PyObject* reports = MakeReportFunctions(python);
  const bool made =
      globals != nullptr && reports != nullptr &&
      python.PyDict_SetItemString(reports, "modules", python.PyImport_GetModuleDict()) == 0 &&
      python.PyDict_SetItemString(globals, "__builtins__", python.PyEval_GetBuiltins()) == 0 &&
      python.PyDict_SetItemString(globals, "reports", reports) == 0;
  if (reports != nullptr) python.Py_DecRef(reports);
  if (made) return globals;
  if (globals != nullptr) python.Py_DecRef(globals);
  return nullptr;
}

// Null: an exception is set.
PyObject* RunScript(const Interpreter& python) {
  PyObject* globals = MakeGlobals(python);
  if (globals == nullptr) return nullptr;
  PyObject* result = nullptr;
  if (PyObject* code =
          python.Py_CompileString(k_hooks_py, ScriptName(python).c_str(), kFileInput)) {
    result = python.PyEval_EvalCode(code, globals, globals);
    python.Py_DecRef(code);
  }
  if (result == nullptr) {
    python.Py_DecRef(globals);
    return nullptr;
  }
  python.Py_DecRef(result);
  return globals;
}

void CountParts(long parts) {
  const auto count = [&](int shift) {
    std::int64_t found = 0;
    for (int i = 0; i < kParts; ++i) found += parts >> (shift + i) & 1;
    return found;
  };
  g_counters.Set(Health::kPythonInstalled, count(0));
  g_counters.Set(Health::kPythonFailed, count(kParts));
}

// False: an exception is set.
bool Install(const Interpreter& python) {
  PyObject* globals = g_shared.globals.load(std::memory_order_relaxed);
  if (globals == nullptr) globals = RunScript(python);
  if (globals == nullptr) return false;
  g_shared.globals.store(globals, std::memory_order_release);
  PyObject* install = python.PyDict_GetItemString(globals, "install");
  PyObject* result = install == nullptr ? nullptr : python.PyObject_CallObject(install, nullptr);
  if (result == nullptr) return python.PyErr_Occurred() == nullptr;
  const long parts = python.PyLong_AsLong(result);
  python.Py_DecRef(result);
  CountParts(parts);
  if ((parts & kAgain) == 0) g_shared.done.store(true, std::memory_order_release);
  return true;
}

// Tries to install. False: an exception is set that is not ours to end: our own ends here, and so
// does the attempt.
bool InstallOrGiveUp(const Interpreter& python) noexcept {
  try {
    if (Install(python)) return true;
    if (!ClearOurs(python)) return false;
  } catch (...) {  // out of memory
    python.PyErr_Clear();
  }
  g_counters.Set(Health::kPythonFailed, kParts);
  g_shared.done.store(true, std::memory_order_release);
  return true;
}

// The pending call. Non-zero with an exception set: it is raised in the program, which is right
// only for what its own signal handlers raised while we ran.
int OnMainThread(void*) {
  const Interpreter& python = g_shared.python;
  bool ours = true;
  if (Recording() && python.IsAlive() && python.IsMain() &&
      (Loaded(python, "torch.optim") != nullptr || Loaded(python, "torch.utils.data") != nullptr) &&
      MayRun(python)) {
    const Unseen unseen(python);
    ours = InstallOrGiveUp(python);
  }
  g_shared.outstanding.store(false, std::memory_order_release);
  return ours ? 0 : -1;
}

}  // namespace

void PythonStart::Tick(std::int64_t now_ns) {
  if (now_ns < next_ns_) return;
  if (tries_ >= kMaxTries || g_shared.done.load(std::memory_order_acquire)) {
    next_ns_ = INT64_MAX;
    return;
  }
  ++tries_;
  next_ns_ = now_ns + std::int64_t{tries_} * tries_ * kFirstWaitNs;
  if (g_shared.outstanding.load(std::memory_order_acquire)) return;  // the main thread is busy in C
  if (g_shared.python.Py_AddPendingCall == nullptr) {
    const auto found = FindInterpreter();
    if (!found) return;
    g_shared.python = *found;
  }
  if (!g_shared.python.IsAlive()) {
    // An embedded interpreter may come back; what it held for us is gone then.
    if (g_shared.globals.load(std::memory_order_acquire) != nullptr) g_shared.done.store(true);
    return;
  }
  g_shared.outstanding.store(true, std::memory_order_release);
  if (g_shared.python.Py_AddPendingCall(OnMainThread, nullptr) != 0)  // its queue is full
    g_shared.outstanding.store(false, std::memory_order_release);
}

}  // namespace traceinject
