// SPDX-License-Identifier: Apache-2.0
#include "injector/python/interpreter.h"

#include <dlfcn.h>

#include <cstring>

namespace traceinject {
namespace {

template <typename Pointer>
bool Find(const char* name, Pointer* found) {
  *found = reinterpret_cast<Pointer>(dlsym(RTLD_DEFAULT, name));
  return *found != nullptr;
}

}  // namespace

std::optional<Interpreter> FindInterpreter() {
  Interpreter found{};
  // The first look-up is the only one in a program that has no Python.
  if (!Find("Py_AddPendingCall", &found.Py_AddPendingCall)) return std::nullopt;
#define TRACEINJECT_FIND(name) Find(#name, &found.name)
  const bool all =
      TRACEINJECT_FIND(Py_IsInitialized) && TRACEINJECT_FIND(PyImport_GetModuleDict) &&
      TRACEINJECT_FIND(PyDict_GetItemString) && TRACEINJECT_FIND(PyDict_GetItemWithError) &&
      TRACEINJECT_FIND(PyDict_SetItemString) && TRACEINJECT_FIND(PyDict_New) &&
      TRACEINJECT_FIND(PyObject_GetAttrString) && TRACEINJECT_FIND(PyObject_GetAttr) &&
      TRACEINJECT_FIND(PyObject_Type) && TRACEINJECT_FIND(PyObject_IsTrue) &&
      TRACEINJECT_FIND(PyUnicode_AsUTF8) && TRACEINJECT_FIND(PyUnicode_InternFromString) &&
      TRACEINJECT_FIND(PyTuple_Size) && TRACEINJECT_FIND(PyTuple_GetItem) &&
      TRACEINJECT_FIND(PyCapsule_GetPointer) && TRACEINJECT_FIND(PyEval_GetBuiltins) &&
      TRACEINJECT_FIND(Py_CompileString) && TRACEINJECT_FIND(PyEval_EvalCode) &&
      TRACEINJECT_FIND(PyObject_CallObject) && TRACEINJECT_FIND(PyObject_Call) &&
      TRACEINJECT_FIND(PyObject_CallFunctionObjArgs) &&
      TRACEINJECT_FIND(PyObject_CallMethodObjArgs) && TRACEINJECT_FIND(PyCFunction_NewEx) &&
      TRACEINJECT_FIND(PyLong_AsLong) && TRACEINJECT_FIND(PyLong_AsLongLong) &&
      TRACEINJECT_FIND(PyLong_FromLong) && TRACEINJECT_FIND(Py_IncRef) &&
      TRACEINJECT_FIND(Py_DecRef) && TRACEINJECT_FIND(PyErr_BadArgument) &&
      TRACEINJECT_FIND(PyErr_Occurred) && TRACEINJECT_FIND(PyErr_ExceptionMatches) &&
      TRACEINJECT_FIND(PyErr_Clear) && TRACEINJECT_FIND(PyExc_Exception) &&
      TRACEINJECT_FIND(_Py_NoneStruct) && TRACEINJECT_FIND(_Py_TrueStruct) &&
      TRACEINJECT_FIND(_Py_FalseStruct) && TRACEINJECT_FIND(PyCFunction_GetFunction) &&
      TRACEINJECT_FIND(PyCFunction_GetFlags) && TRACEINJECT_FIND(PyCFunction_GetSelf) &&
      TRACEINJECT_FIND(PyCFunction_Type) && TRACEINJECT_FIND(PyDict_SetItem) &&
      TRACEINJECT_FIND(PyTuple_New) && TRACEINJECT_FIND(PyTuple_SetItem) &&
      TRACEINJECT_FIND(PyErr_Fetch) && TRACEINJECT_FIND(PyErr_Restore) &&
      TRACEINJECT_FIND(PyBaseObject_Type) && TRACEINJECT_FIND(PyFunction_Type) &&
      TRACEINJECT_FIND(PyThreadState_Get) && TRACEINJECT_FIND(Py_GetVersion) &&
      TRACEINJECT_FIND(Py_GetRecursionLimit) && TRACEINJECT_FIND(PySys_GetObject);
  if (!all) return std::nullopt;
  // CPython 3.8 ends the process now and then when a loader's error passes an observer.
  if (std::strncmp(found.Py_GetVersion(), "3.8.", 4) == 0) return std::nullopt;
  TRACEINJECT_FIND(PyInterpreterState_Main);
  TRACEINJECT_FIND(PyThreadState_EnterTracing);
  TRACEINJECT_FIND(PyThreadState_LeaveTracing);
  TRACEINJECT_FIND(Py_EnterRecursiveCall);
  TRACEINJECT_FIND(Py_LeaveRecursiveCall);
  TRACEINJECT_FIND(PyVectorcall_Function);
  TRACEINJECT_FIND(PyFunction_SetVectorcall);
  TRACEINJECT_FIND(_PyFunction_Vectorcall);
#undef TRACEINJECT_FIND
  // Public since 3.9, under another name in 3.8.
  if (!Find("PyInterpreterState_Get", &found.PyInterpreterState_Get))
    Find("_PyInterpreterState_Get", &found.PyInterpreterState_Get);
  // Public since 3.13, under another name since 3.7.
  if (!Find("Py_IsFinalizing", &found.Py_IsFinalizing))
    Find("_Py_IsFinalizing", &found.Py_IsFinalizing);
  return found;
}

}  // namespace traceinject
