// SPDX-License-Identifier: Apache-2.0
#include "injector/tries/python_levers.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <optional>

#include "injector/python/interpreter.h"
#include "injector/python/method_definition.h"
#include "injector/python/owned.h"
#include "injector/tries/levers_py.h"
#include "injector/tries/tried.h"

namespace traceinject {
namespace {

constexpr char kModule[] = "torch";
constexpr char kScriptName[] = "<traceinject-try>";
constexpr int kStartOfFile = 257;  // Py_file_input: the start symbol of a module

// Since CPython 3.8: cpython/sysmodule.h.
using AuditHook = int(const char* event, PyObject* args, void* data);
using AddAuditHook = int(AuditHook* hook, void* data);

struct Offer {
  std::vector<TryWish> wishes;
  std::atomic<bool> was_taken{false};
};
// Never destroyed, as the hook stays.
constinit Offer* g_offer = nullptr;
constinit const Interpreter* g_tried_python = nullptr;

void TellAll(const std::string& why) {
  for (const TryWish& wish : g_offer->wishes) TellTried(wish.lever, 0, why);
}

// tell(lever, times, text)
PyObject* Tell(PyObject*, PyObject* const* arguments, std::ptrdiff_t count) {
  const Interpreter& python = *g_tried_python;
  if (count != 3) return python.PyErr_BadArgument(), nullptr;
  const char* const lever = python.PyUnicode_AsUTF8(arguments[0]);
  const long times = python.PyLong_AsLong(arguments[1]);
  const char* const text = python.PyUnicode_AsUTF8(arguments[2]);
  if (lever == nullptr || text == nullptr || python.PyErr_Occurred() != nullptr) return nullptr;
  TellTried(lever, times, text);
  python.Py_IncRef(python._Py_NoneStruct);
  return python._Py_NoneStruct;
}
constinit MethodDefinition g_tell = {"tell", Tell, kFastCall, nullptr};

// False: an exception is set.
bool Set(const Interpreter& python, PyObject* dictionary, const char* key, PyObject* value) {
  const Owned owned(python, value);
  return owned && python.PyDict_SetItemString(dictionary, key, owned.get()) == 0;
}

// {lever: value}; null: an exception is set.
PyObject* AskedLevers(const Interpreter& python) {
  PyObject* const asked = python.PyDict_New();
  for (const TryWish& wish : g_offer->wishes) {
    if (asked == nullptr || !Set(python, asked, wish.lever.c_str(),
                                 python.PyUnicode_InternFromString(wish.value.c_str())))
      return nullptr;
  }
  return asked;
}

// False: an exception is set.
bool RunLevers(const Interpreter& python) {
  const Owned globals(python, python.PyDict_New());
  if (!globals || !Set(python, globals.get(), "asked", AskedLevers(python)) ||
      !Set(python, globals.get(), "tell", python.PyCFunction_NewEx(&g_tell, nullptr, nullptr)) ||
      python.PyDict_SetItemString(globals.get(), "__builtins__", python.PyEval_GetBuiltins()) != 0)
    return false;
  const Owned code(python, python.Py_CompileString(k_levers_py, kScriptName, kStartOfFile));
  return code && Owned(python, python.PyEval_EvalCode(code.get(), globals.get(), globals.get()));
}

void TakeOffer() {
  const std::optional<Interpreter> found = FindInterpreter();
  if (!found) return TellAll("levers need CPython 3.9 or later");
  static const Interpreter python = *found;
  if (!python.IsMain()) return;
  if (g_offer->was_taken.exchange(true)) return;
  g_tried_python = &python;
  if (RunLevers(python)) return;
  python.PyErr_Clear();
  TellAll("levers.py failed in this interpreter");
}

bool IsImportOf(const char* module, PyObject* args) {
  static const auto item = reinterpret_cast<PyObject* (*)(PyObject*, std::ptrdiff_t)>(
      dlsym(RTLD_DEFAULT, "PyTuple_GetItem"));
  static const auto utf8 =
      reinterpret_cast<const char* (*)(PyObject*)>(dlsym(RTLD_DEFAULT, "PyUnicode_AsUTF8"));
  if (item == nullptr || utf8 == nullptr) return false;
  PyObject* const name = item(args, 0);
  const char* const text = name == nullptr ? nullptr : utf8(name);
  return text != nullptr && std::strcmp(text, module) == 0;
}

// Never fails: the program would get an exception.
int OnAudit(const char* event, PyObject* args, void*) noexcept {
  if (g_offer->was_taken.load(std::memory_order_relaxed) || std::strcmp(event, "import") != 0 ||
      !IsImportOf(kModule, args))
    return 0;
  try {
    TakeOffer();
  } catch (...) {  // out of memory
    g_offer->was_taken.store(true);
  }
  return 0;
}

}  // namespace

void OfferLevers(std::vector<TryWish> wishes) {
  g_offer = new Offer{std::move(wishes)};
  const auto add = reinterpret_cast<AddAuditHook*>(dlsym(RTLD_DEFAULT, "PySys_AddAuditHook"));
  if (add == nullptr || add(OnAudit, nullptr) != 0)
    TellAll("the program is no Python program, or none of CPython 3.8 or later");
  else
    TellAll("the program did not import torch");
}

}  // namespace traceinject
