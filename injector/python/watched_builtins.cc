// SPDX-License-Identifier: Apache-2.0
#include "injector/python/watched_builtins.h"

#include <array>
#include <atomic>
#include <utility>

#include "injector/core/state.h"
#include "injector/python/method_definition.h"
#include "injector/python/method_swap.h"
#include "injector/python/observer.h"
#include "injector/python/owned.h"

namespace traceinject {
namespace {

constinit const Interpreter* g_python = nullptr;

// A C function is not told by which definition it is called: each has one of its own.
struct Watched {
  MethodDefinition* definition = nullptr;
  void* original = nullptr;
  Observer observer;
};
constexpr std::size_t kMost = 8;
constinit Watched g_watched[kMost];

bool IsWanted() { return Recording() && g_python->IsHere(); }

template <std::size_t place>
PyObject* CallByTuple(PyObject* self, PyObject* args, PyObject* kwargs) {
  const auto original = reinterpret_cast<KeywordCall>(g_watched[place].original);
  const auto call = [&] { return original(self, args, kwargs); };
  return IsWanted() ? Observed(*g_python, g_watched[place].observer, args).Make(call) : call();
}

template <std::size_t place>
PyObject* CallByArray(PyObject* self, PyObject* const* arguments, std::ptrdiff_t count,
                      PyObject* names) {
  const auto original = reinterpret_cast<FastKeywordCall>(g_watched[place].original);
  const auto call = [&] { return original(self, arguments, count, names); };
  if (!IsWanted()) return call();
  const Owned args(*g_python, TupleOf(*g_python, arguments, static_cast<std::size_t>(count)));
  return args ? Observed(*g_python, g_watched[place].observer, args.get()).Make(call) : call();
}

struct Replacement {
  void *by_tuple, *by_array;
};

template <std::size_t... places>
constexpr auto MakeReplacements(std::index_sequence<places...>) {
  return std::array{Replacement{reinterpret_cast<void*>(&CallByTuple<places>),
                                reinterpret_cast<void*>(&CallByArray<places>)}...};
}

// Null: it is called in another way.
void* ReplacementFor(std::size_t place, int flags) {
  static const auto replacements = MakeReplacements(std::make_index_sequence<kMost>());
  if (flags == (kVarArgs | kKeywords)) return replacements[place].by_tuple;
  return flags == (kFastCall | kKeywords) ? replacements[place].by_array : nullptr;
}

bool Watch(PyObject* builtin, PyObject* before, PyObject* after) {
  MethodDefinition* const definition = FindDefinition(*g_python, builtin);
  if (definition == nullptr) return false;
  std::size_t place = 0;
  for (; place < kMost && g_watched[place].definition != nullptr; ++place) {
    if (g_watched[place].definition == definition) return true;
  }
  void* const replacement = place < kMost ? ReplacementFor(place, definition->flags) : nullptr;
  if (replacement == nullptr) return false;
  g_watched[place].observer = MakeObserver(*g_python, before, after);
  if (!SwapMethod(definition, replacement, &g_watched[place].original)) return false;
  g_watched[place].definition = definition;
  return true;
}

}  // namespace

PyObject* WatchBuiltin(const Interpreter& python, PyObject* const* arguments,
                       std::ptrdiff_t count) {
  g_python = &python;
  if (count != 3) {
    python.PyErr_BadArgument();
    return nullptr;
  }
  return python.PyLong_FromLong(Watch(arguments[0], arguments[1], arguments[2]));
}

}  // namespace traceinject
