// SPDX-License-Identifier: Apache-2.0
#include "injector/python/observer.h"

#include "injector/python/owned.h"

namespace traceinject {

Observer MakeObserver(const Interpreter& python, PyObject* before, PyObject* after,
                      bool even_seen) {
  const auto held = [&](PyObject* object) {
    if (object == python._Py_NoneStruct) return static_cast<PyObject*>(nullptr);
    python.Py_IncRef(object);
    return object;
  };
  return {held(before), held(after), even_seen};
}

bool Observed::Begin() {
  wanted_ = observer_.after != nullptr;
  if (observer_.before == nullptr) return true;
  if (!MayRun(python_, observer_.even_seen)) {
    wanted_ = false;
    return true;
  }
  const Unseen unseen(python_);
  const Owned start(python_, python_.PyLong_FromLong(start_ns_));
  if (start) {
    answer_ = python_.PyObject_CallFunctionObjArgs(observer_.before, start.get(), args_, nullptr);
  }
  wanted_ = wanted_ && answer_ != nullptr && python_.PyObject_IsTrue(answer_) == 1;
  return ClearOurs(python_);
}

PyObject* Observed::End(PyObject* result, std::int64_t end_ns) {
  if (result == nullptr) {
    TellOfError(end_ns);
    return nullptr;
  }
  if (Tell(end_ns, result, python_._Py_TrueStruct)) return result;
  python_.Py_DecRef(result);
  return nullptr;
}

bool Observed::Undo() const {
  if (answer_ != nullptr && answer_ != python_._Py_TrueStruct)
    const Owned nothing(python_, python_.PyObject_CallObject(answer_, nullptr));
  return ClearOurs(python_);
}

bool Observed::Tell(std::int64_t end_ns, PyObject* result, PyObject* returned) const {
  if (!MayRun(python_, observer_.even_seen)) return Undo();
  const Unseen unseen(python_);
  const Owned start(python_, python_.PyLong_FromLong(start_ns_));
  const Owned end(python_, python_.PyLong_FromLong(end_ns));
  if (start && end) {
    const Owned nothing(
        python_, python_.PyObject_CallFunctionObjArgs(observer_.after, start.get(), end.get(),
                                                      args_, result, returned, nullptr));
  }
  return ClearOurs(python_);
}

// The error goes on, unless a signal handler of the program's raised another one.
void Observed::TellOfError(std::int64_t end_ns) const {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  python_.PyErr_Fetch(&type, &value, &traceback);
  if (Tell(end_ns, python_._Py_NoneStruct, python_._Py_FalseStruct)) {
    python_.PyErr_Restore(type, value, traceback);
    return;
  }
  for (PyObject* part : {type, value, traceback}) {
    if (part != nullptr) python_.Py_DecRef(part);
  }
}

}  // namespace traceinject
