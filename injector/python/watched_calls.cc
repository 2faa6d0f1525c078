// SPDX-License-Identifier: Apache-2.0
#include "injector/python/watched_calls.h"

#include <atomic>

#include "injector/base/state.h"
#include "injector/python/call_slot.h"
#include "injector/python/observer.h"

namespace traceinject {
namespace {

constinit const Interpreter* g_python_of_calls = nullptr;

struct Watched {
  std::atomic<PyObject*> function{nullptr};
  OriginalCall original{nullptr};
  Observer observer;
};
constexpr std::size_t kMax = 256;
constinit Watched g_watched[kMax];
constinit std::atomic<std::size_t> g_count{0};  // only the main thread adds

Watched* Find(PyObject* function) {
  const std::size_t count = g_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (g_watched[i].function.load(std::memory_order_relaxed) == function) return &g_watched[i];
  }
  return nullptr;
}

// In place of CPython's own function.
PyObject* CallWatched(PyObject* function, PyObject* const* arguments, std::size_t count,
                      PyObject* names) {
  const Watched& watched = *Find(function);
  const auto call = [&] {
    return CallAsBefore(*g_python_of_calls, watched.original, function, arguments, count, names);
  };
  if (!Recording() || !g_python_of_calls->IsHere()) return call();
  const Owned args(*g_python_of_calls,
                   TupleOf(*g_python_of_calls, arguments, CountOfVectorCall(count)));
  if (args) return Observed(*g_python_of_calls, watched.observer, args.get()).Make(call);
  g_python_of_calls->PyErr_Clear();  // out of memory, which is no error of the program's
  return call();
}

// Null: there are too many. An address is met again where another function was freed.
Watched* PlaceFor(PyObject* function) {
  if (Watched* known = Find(function)) return known;
  const std::size_t count = g_count.load(std::memory_order_relaxed);
  return count < kMax ? &g_watched[count] : nullptr;
}

bool Watch(PyObject* function, PyObject* before, PyObject* after, bool even_seen) {
  if (IsSwapped(*g_python_of_calls, function, CallWatched)) return true;
  Watched* const place = PlaceFor(function);
  if (place == nullptr) return false;
  // All of it before the first call through us.
  place->observer = MakeObserver(*g_python_of_calls, before, after, even_seen);
  if (place->function.exchange(function, std::memory_order_relaxed) == nullptr)
    g_count.fetch_add(1, std::memory_order_release);
  return SwapCall(*g_python_of_calls, function, CallWatched, &place->original);
}

}  // namespace

PyObject* WatchCalls(const Interpreter& python, PyObject* const* arguments, std::ptrdiff_t count) {
  g_python_of_calls = &python;
  if (count != 4) {
    python.PyErr_BadArgument();
    return nullptr;
  }
  const bool even_seen = arguments[3] == python._Py_TrueStruct;
  return python.PyLong_FromLong(Watch(arguments[0], arguments[1], arguments[2], even_seen));
}

}  // namespace traceinject
