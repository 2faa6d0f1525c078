// SPDX-License-Identifier: Apache-2.0
#include "injector/python/report_functions.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "injector/python/attention_marker.h"
#include "injector/python/collection_marker.h"
#include "injector/python/method_definition.h"
#include "injector/python/reports.h"
#include "injector/python/touched.h"
#include "injector/python/unseen.h"
#include "injector/python/watched_calls.h"

namespace traceinject {
namespace {

constinit const Interpreter* g_python_of_reports = nullptr;

PyObject* None() {
  g_python_of_reports->Py_IncRef(g_python_of_reports->_Py_NoneStruct);
  return g_python_of_reports->_Py_NoneStruct;
}

// False: an exception is set.
bool Read(PyObject* number, std::int64_t* value) {
  *value = g_python_of_reports->PyLong_AsLongLong(number);
  return *value != -1 || g_python_of_reports->PyErr_Occurred() == nullptr;
}

template <typename Result, typename... Numbers, std::size_t... index>
PyObject* Apply(Result (*function)(Numbers...), PyObject* const* arguments,
                std::index_sequence<index...>) {
  std::int64_t values[sizeof...(Numbers)];
  if (!(Read(arguments[index], &values[index]) && ...)) return nullptr;
  if constexpr (std::is_void_v<Result>) {
    function(values[index]...);
    return None();
  } else {
    return g_python_of_reports->PyLong_FromLong(function(values[index]...));
  }
}

template <typename Result, typename... Numbers>
PyObject* CheckAndApply(Result (*function)(Numbers...), PyObject* const* arguments,
                        std::ptrdiff_t count) {
  if (count == sizeof...(Numbers))
    return Apply(function, arguments, std::index_sequence_for<Numbers...>());
  g_python_of_reports->PyErr_BadArgument();
  return nullptr;
}

template <auto function>
PyObject* CallWithReport(PyObject*, PyObject* const* arguments, std::ptrdiff_t count) {
  return CheckAndApply(function, arguments, count);
}

template <auto function>
PyObject* CallWithPython(PyObject*, PyObject* const* arguments, std::ptrdiff_t count) {
  return function(*g_python_of_reports, arguments, count);
}

PyObject* TellTouched(PyObject*, PyObject* const* arguments, std::ptrdiff_t count) {
  const char* const text =
      count == 1 ? g_python_of_reports->PyUnicode_AsUTF8(arguments[0]) : nullptr;
  if (text == nullptr) return nullptr;
  TouchedByHooks().Set(text);
  return None();
}

// Called from Python with the traceback of an exception: whether it is ours to end.
PyObject* IsOurs(PyObject*, PyObject* const* arguments, std::ptrdiff_t count) {
  return g_python_of_reports->PyLong_FromLong(count == 1 &&
                                              IsOurTraceback(*g_python_of_reports, arguments[0]));
}

constinit MethodDefinition g_functions[] = {
    {"report_loader", CallWithReport<ReportLoader>, kFastCall, nullptr},
    {"report_wait", CallWithReport<ReportDataWait>, kFastCall, nullptr},
    {"report_step", CallWithReport<ReportStep>, kFastCall, nullptr},
    {"report_unmarked_step", CallWithReport<ReportUnmarkedStep>, kFastCall, nullptr},
    {"report_span", CallWithReport<ReportSpan>, kFastCall, nullptr},
    {"report_worker", CallWithReport<ReportWorker>, kFastCall, nullptr},
    {"report_shape", CallWithReport<ReportAttentionShape>, kFastCall, nullptr},
    {"report_attention", CallWithReport<ReportAttention>, kFastCall, nullptr},
    {"report_allocator", CallWithReport<ReportAllocator>, kFastCall, nullptr},
    {"ask_for_room", CallWithReport<AskForRoom>, kFastCall, nullptr},
    {"watch_calls", CallWithPython<WatchCalls>, kFastCall, nullptr},
    {"watch_attention", CallWithPython<WatchAttention>, kFastCall, nullptr},
    {"is_ours", IsOurs, kFastCall, nullptr},
    {"tell_touched", TellTouched, kFastCall, nullptr},
    {"mark_collection", CallWithPython<MarkCollection>, kFastCall, nullptr},
};

}  // namespace

PyObject* MakeReportFunctions(const Interpreter& python) {
  g_python_of_reports = &python;
  PyObject* functions = python.PyDict_New();
  for (MethodDefinition& definition : g_functions) {
    if (functions == nullptr) break;
    PyObject* function = python.PyCFunction_NewEx(&definition, nullptr, nullptr);
    const bool added = function != nullptr &&
                       python.PyDict_SetItemString(functions, definition.name, function) == 0;
    if (function != nullptr) python.Py_DecRef(function);
    if (!added) python.Py_DecRef(std::exchange(functions, nullptr));
  }
  return functions;
}

}  // namespace traceinject
