// SPDX-License-Identifier: Apache-2.0
#include "injector/core/real_function.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>

#include <algorithm>
#include <cstring>

#include "injector/core/loaded_libraries.h"

namespace traceinject {
namespace {

// An object of the process by an address in it. Code that no file has (made at run time) counts by
// pages.
struct Object {
  explicit Object(std::uintptr_t address);

  std::uintptr_t address;
  std::uintptr_t begin, end;
  char path[PATH_MAX] = {};  // empty: the program itself, or no file
};

int FindObject(dl_phdr_info* info, std::size_t, void* data) {
  auto* object = static_cast<Object*>(data);
  std::uintptr_t begin = UINTPTR_MAX, end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    begin = std::min<std::uintptr_t>(begin, info->dlpi_addr + part.p_vaddr);
    end = std::max<std::uintptr_t>(end, info->dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  if (object->address < begin || object->address >= end) return 0;
  object->begin = begin;
  object->end = end;
  const std::size_t length = std::strlen(info->dlpi_name);
  if (length < sizeof object->path) std::memcpy(object->path, info->dlpi_name, length + 1);
  return 1;
}

constexpr std::uintptr_t kPageBytes = 4096;

Object::Object(std::uintptr_t at)
    : address(at), begin(at / kPageBytes * kPageBytes), end(begin + kPageBytes) {
  dl_iterate_phdr(FindObject, this);
}

bool IsOurs(void* symbol) {
  Dl_info found{}, own{};
  return dladdr(symbol, &found) != 0 && dladdr(reinterpret_cast<void*>(&FindObject), &own) != 0 &&
         found.dli_fbase == own.dli_fbase;
}

// Among what the object is linked with, directly or not.
void* FindLinked(const char* path, const char* name) {
  void* handle = path[0] == '\0' ? nullptr : dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return nullptr;
  void* symbol = dlsym(handle, name);
  dlclose(handle);  // as often held as before
  return symbol != nullptr && !IsOurs(symbol) ? symbol : nullptr;
}

// The program itself is linked with what comes after us. Where that has none, the caller relies on
// what somebody else loaded: the first there is.
void* FindAnywhere(const char* library, const char* name) {
  if (void* symbol = dlsym(RTLD_NEXT, name)) return symbol;
  void* handle = OpenLoaded(library);
  return handle == nullptr ? nullptr : dlsym(handle, name);
}

// The library stays, as it would if nobody closed it: what is known of it must not go stale.
void KeepLoaded(void* symbol) {
  Dl_info found{};
  if (dladdr(symbol, &found) != 0 && found.dli_fname != nullptr)
    dlopen(found.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
}

}  // namespace

void* RealSymbol::LookUp(const char* library, const char* name, std::uintptr_t caller) {
  const int saved_errno = errno;
  const Object object(caller);
  void* symbol = FindLinked(object.path, name);
  if (symbol == nullptr) symbol = FindAnywhere(library, name);
  if (symbol != nullptr) KeepLoaded(symbol);
  errno = saved_errno;
  if (symbol == nullptr || count_.load(std::memory_order_relaxed) >= kMost) return symbol;
  const int index = count_.fetch_add(1, std::memory_order_relaxed);
  if (index >= kMost) return symbol;
  Caller& known = callers_[index];
  known.begin = object.begin;
  known.bytes = object.end - object.begin;
  known.symbol.store(symbol, std::memory_order_release);
  return symbol;
}

}  // namespace traceinject
