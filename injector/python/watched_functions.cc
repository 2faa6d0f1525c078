// SPDX-License-Identifier: Apache-2.0
#include "injector/python/watched_functions.h"

#include <atomic>
#include <cstdint>

#include "injector/core/state.h"
#include "injector/python/method_definition.h"
#include "injector/python/observer.h"
#include "injector/python/owned.h"

namespace traceinject {
namespace {

constinit const Interpreter* g_python = nullptr;

struct Watched {
  std::atomic<PyObject*> function{nullptr};
  std::atomic<VectorCall> original{nullptr};
  Observer observer;
};
constexpr std::size_t kMost = 256;
constinit Watched g_watched[kMost];
constinit std::atomic<std::size_t> g_count{0};  // the GIL, or the interpreter's main thread, adds

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
  const VectorCall original = watched.original.load(std::memory_order_relaxed);
  const auto call = [&] { return original(function, arguments, count, names); };
  if (!Recording() || !g_python->IsHere()) return call();
  const Owned args(*g_python, TupleOf(*g_python, arguments, CountOfVectorCall(count)));
  return args ? Observed(*g_python, watched.observer, args.get()).Make(call) : call();
}

void* OwnCall() { return reinterpret_cast<void*>(&CallWatched); }

// Where the object has the pointer `value`; null: nowhere, or in several places.
std::atomic<void*>* FindField(PyObject* function, const void* value) {
  const Owned size(*g_python,
                   g_python->PyObject_GetAttrString(g_python->PyFunction_Type, "__basicsize__"));
  const long bytes = size ? g_python->PyLong_AsLong(size.get()) : 0;
  auto* const words = reinterpret_cast<std::atomic<void*>*>(function);
  std::atomic<void*>* found = nullptr;
  for (long i = 0; i < bytes / static_cast<long>(sizeof(void*)); ++i) {
    if (words[i].load(std::memory_order_relaxed) != value) continue;
    if (found != nullptr) return nullptr;
    found = &words[i];
  }
  return found;
}

// The function by which CPython calls `function`; null: it cannot be told.
void* CallOf(PyObject* function) {
  if (g_python->PyVectorcall_Function != nullptr) return g_python->PyVectorcall_Function(function);
  for (void* call : {OwnCall(), g_python->_PyFunction_Vectorcall}) {
    if (call != nullptr && FindField(function, call) != nullptr) return call;
  }
  return nullptr;
}

bool SetCall(PyObject* function, void* original) {
  if (g_python->PyFunction_SetVectorcall != nullptr)
    return g_python->PyFunction_SetVectorcall(function, OwnCall()), true;
  std::atomic<void*>* field = FindField(function, original);
  if (field != nullptr) field->store(OwnCall(), std::memory_order_release);
  return field != nullptr;
}

// Null: there are too many. An address is met again where another function was freed.
Watched* PlaceFor(PyObject* function) {
  if (Watched* known = Find(function)) return known;
  const std::size_t count = g_count.load(std::memory_order_relaxed);
  return count < kMost ? &g_watched[count] : nullptr;
}

bool Watch(PyObject* function, PyObject* before, PyObject* after) {
  const Owned type(*g_python, g_python->PyObject_Type(function));
  if (type.get() != g_python->PyFunction_Type) return false;
  void* const original = CallOf(function);
  if (original == OwnCall()) return true;
  Watched* place = original == nullptr ? nullptr : PlaceFor(function);
  if (place == nullptr) return false;
  place->original.store(reinterpret_cast<VectorCall>(original), std::memory_order_relaxed);
  place->observer = MakeObserver(*g_python, before, after);
  if (place->function.exchange(function, std::memory_order_relaxed) == nullptr)
    g_count.fetch_add(1, std::memory_order_release);
  return SetCall(function, original);
}

}  // namespace

PyObject* WatchFunction(const Interpreter& python, PyObject* const* arguments,
                        std::ptrdiff_t count) {
  g_python = &python;
  if (count != 3) {
    python.PyErr_BadArgument();
    return nullptr;
  }
  return python.PyLong_FromLong(Watch(arguments[0], arguments[1], arguments[2]));
}

}  // namespace traceinject
