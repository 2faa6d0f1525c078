// SPDX-License-Identifier: Apache-2.0
// The functions of the program's CPython that we need, found by name at run time: no headers of
// Python, nothing linked. All but Py_IsInitialized, Py_IsFinalizing and Py_AddPendingCall need the
// GIL. Declarations: the stable ABI of CPython 3 (docs.python.org/3/c-api/stable.html), in which
// objects are opaque; those that say since when they are there are of its cpython/ headers.
#pragma once

#include <cstddef>
#include <optional>

namespace traceinject {

struct PyObject;  // opaque

struct Interpreter {
  int (*Py_IsInitialized)();
  int (*Py_IsFinalizing)();  // null before 3.7
  int (*Py_AddPendingCall)(int (*call)(void*), void* argument);
  // The interpreter that runs, and the first one; null before 3.8.
  void* (*PyInterpreterState_Get)();
  void* (*PyInterpreterState_Main)();
  PyObject* (*PyImport_GetModuleDict)();                                // borrowed
  PyObject* (*PyDict_GetItemString)(PyObject* dict, const char* key);   // borrowed
  PyObject* (*PyDict_GetItemWithError)(PyObject* dict, PyObject* key);  // borrowed
  int (*PyDict_SetItem)(PyObject* dict, PyObject* key, PyObject* value);
  int (*PyDict_SetItemString)(PyObject* dict, const char* key, PyObject* value);
  PyObject* (*PyDict_New)();
  PyObject* (*PyObject_GetAttrString)(PyObject* object, const char* name);
  PyObject* (*PyObject_GetAttr)(PyObject* object, PyObject* name);
  PyObject* (*PyObject_Type)(PyObject* object);
  int (*PyObject_IsTrue)(PyObject* object);
  const char* (*PyUnicode_AsUTF8)(PyObject* text);  // lives as long as `text`
  PyObject* (*PyUnicode_InternFromString)(const char* text);
  std::ptrdiff_t (*PyTuple_Size)(PyObject* tuple);
  PyObject* (*PyTuple_GetItem)(PyObject* tuple, std::ptrdiff_t index);  // borrowed
  PyObject* (*PyTuple_New)(std::ptrdiff_t size);
  int (*PyTuple_SetItem)(PyObject* tuple, std::ptrdiff_t index, PyObject* item);  // takes `item`
  PyObject* (*PyEval_GetBuiltins)();                                              // borrowed
  PyObject* (*Py_CompileString)(const char* source, const char* name, int start);
  PyObject* (*PyEval_EvalCode)(PyObject* code, PyObject* globals, PyObject* locals);
  PyObject* (*PyObject_CallObject)(PyObject* callable, PyObject* arguments);
  PyObject* (*PyObject_Call)(PyObject* callable, PyObject* args, PyObject* kwargs);
  // The arguments end with a null pointer.
  PyObject* (*PyObject_CallFunctionObjArgs)(PyObject* callable, ...);
  PyObject* (*PyObject_CallMethodObjArgs)(PyObject* object, PyObject* name, ...);
  void* (*PyCapsule_GetPointer)(PyObject* capsule, const char* name);
  PyObject* (*PyCFunction_NewEx)(void* definition, PyObject* self, PyObject* module);
  void* (*PyCFunction_GetFunction)(PyObject* builtin);  // null, with an exception: it is none
  int (*PyCFunction_GetFlags)(PyObject* builtin);
  PyObject* (*PyCFunction_GetSelf)(PyObject* builtin);  // borrowed; null: none
  long (*PyLong_AsLong)(PyObject* number);
  long long (*PyLong_AsLongLong)(PyObject* number);
  PyObject* (*PyLong_FromLong)(long number);
  void (*Py_IncRef)(PyObject* object);
  void (*Py_DecRef)(PyObject* object);
  void (*PyErr_BadArgument)();
  PyObject* (*PyErr_Occurred)();
  int (*PyErr_ExceptionMatches)(PyObject* type);
  void (*PyErr_Clear)();
  // Take and give references.
  void (*PyErr_Fetch)(PyObject** type, PyObject** value, PyObject** traceback);
  void (*PyErr_Restore)(PyObject* type, PyObject* value, PyObject* traceback);
  PyObject** PyExc_Exception;
  PyObject* _Py_NoneStruct;
  PyObject* _Py_TrueStruct;
  PyObject* _Py_FalseStruct;
  PyObject* PyBaseObject_Type;
  PyObject* PyFunction_Type;
  PyObject* PyCFunction_Type;
  void* (*PyThreadState_Get)();
  const char* (*Py_GetVersion)();  // "3.9.18 (main, ..."
  int (*Py_GetRecursionLimit)();
  PyObject* (*PySys_GetObject)(const char* name);  // borrowed
  // Null before 3.9. Non-zero: an exception is set.
  int (*Py_EnterRecursiveCall)(const char* where);
  void (*Py_LeaveRecursiveCall)();
  // Null before 3.11.
  void (*PyThreadState_EnterTracing)(void* thread);
  void (*PyThreadState_LeaveTracing)(void* thread);
  // How a function is called: read and written by functions since 3.11 and 3.12; before, the field
  // is found by the value that it has in functions of Python, which has had a name up to 3.12.
  void* (*PyVectorcall_Function)(PyObject* callable);
  void (*PyFunction_SetVectorcall)(PyObject* function, void* call);
  void* _PyFunction_Vectorcall;

  // Between Py_Initialize and the beginning of Py_Finalize. From any thread.
  bool IsAlive() const {
    return Py_IsInitialized() != 0 && (Py_IsFinalizing == nullptr || Py_IsFinalizing() == 0);
  }
  // False in a sub-interpreter. Needs the GIL.
  bool IsMain() const {
    return PyInterpreterState_Get == nullptr || PyInterpreterState_Main == nullptr ||
           PyInterpreterState_Get() == PyInterpreterState_Main();
  }
  // What observes the program's calls may do so. Needs the GIL.
  bool IsHere() const { return IsAlive() && IsMain(); }
};

// Of this process; empty when it has none whose names are visible to all.
std::optional<Interpreter> FindInterpreter();

}  // namespace traceinject
