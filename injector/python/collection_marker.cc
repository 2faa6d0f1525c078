// SPDX-License-Identifier: Apache-2.0
#include "injector/python/collection_marker.h"

#include <atomic>
#include <cstdint>
#include <cstring>

#include "injector/base/clock.h"
#include "injector/python/reports.h"

namespace traceinject {
namespace {

constexpr std::int64_t kCollection = 2;  // host_span.kind
// Shorter ones of generation 0 are many and explain nothing.
constexpr std::int64_t kShortestYoungNs = 100'000;

constinit std::atomic<std::int64_t> g_begun_ns{0};  // one collection at a time, in all threads

void Report(const Interpreter& python, PyObject* info, std::int64_t start_ns, std::int64_t end_ns) {
  PyObject* const number = python.PyDict_GetItemString(info, "generation");
  const long generation = number == nullptr ? -1 : python.PyLong_AsLong(number);
  if (generation < 0 || (generation == 0 && end_ns - start_ns < kShortestYoungNs)) return;
  ReportSpan(start_ns, end_ns, kCollection, generation);
}

}  // namespace

PyObject* MarkCollection(const Interpreter& python, PyObject* const* arguments,
                         std::ptrdiff_t count) {
  const std::int64_t now_ns = NowNs();
  const char* const phase = count == 2 ? python.PyUnicode_AsUTF8(arguments[0]) : nullptr;
  if (phase != nullptr) {
    const bool begins = std::strcmp(phase, "start") == 0;
    const std::int64_t start_ns = g_begun_ns.exchange(begins ? now_ns : 0);
    if (!begins && start_ns != 0) Report(python, arguments[1], start_ns, now_ns);
  }
  python.PyErr_Clear();
  python.Py_IncRef(python._Py_NoneStruct);
  return python._Py_NoneStruct;
}

}  // namespace traceinject
