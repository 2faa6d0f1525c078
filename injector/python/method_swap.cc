// SPDX-License-Identifier: Apache-2.0
#include "injector/python/method_swap.h"

#include <atomic>
#include <cstdint>
#include <sstream>
#include <string>

#include "injector/host/proc_files.h"
#include "injector/python/method_definition.h"
#include "injector/python/owned.h"

namespace traceinject {
namespace {

// Bytes before the fields of an object's own: 16, and 32 in interpreters without the GIL.
long HeaderBytes(const Interpreter& python) {
  const Owned size(python,
                   python.PyObject_GetAttrString(python.PyBaseObject_Type, "__basicsize__"));
  return size ? python.PyLong_AsLong(size.get()) : -1;
}

// A constant table of methods may be in memory that only the dynamic linker wrote to.
bool IsWritable(const void* address) {
  std::istringstream maps(ReadTextFile("/proc/self/maps").value_or(""));
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0, readable = 0, writable = 0;
    std::istringstream fields(line);
    fields >> std::hex >> begin >> dash >> end >> readable >> writable;
    if (at >= begin && at < end) return writable == 'w';
  }
  return false;
}

}  // namespace

MethodDefinition* FindDefinition(const Interpreter& python, PyObject* builtin) {
  void* const function = python.PyCFunction_GetFunction(builtin);
  const long header_bytes = function == nullptr ? -1 : HeaderBytes(python);
  python.PyErr_Clear();  // no builtin
  if (header_bytes != 16 && header_bytes != 32) return nullptr;
  auto* definition =
      *reinterpret_cast<MethodDefinition**>(reinterpret_cast<char*>(builtin) + header_bytes);
  return definition != nullptr && definition->call.address == function &&
                 definition->flags == python.PyCFunction_GetFlags(builtin)
             ? definition
             : nullptr;
}

bool SwapMethod(MethodDefinition* definition, void* replacement, void** original) {
  if (!IsWritable(&definition->call)) return false;
  std::atomic_ref<void*> function(definition->call.address);
  *original = function.load(std::memory_order_acquire);
  function.store(replacement, std::memory_order_release);
  return true;
}

}  // namespace traceinject
