// SPDX-License-Identifier: Apache-2.0
#include "injector/base/real_function.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>

#include <algorithm>
#include <cstring>

#include "injector/base/linker_symbol.h"
#include "injector/base/ring.h"

namespace traceinject {
namespace {

constexpr std::uintptr_t kPageBytes = 4096;

// A loaded object. Nothing here allocates: it runs in calls of the program, and below the dynamic
// linker.
struct Object {
  // Code that no file has (made at run time) counts by pages.
  explicit Object(const void* address);
  // The one with this number; IsThere() is false past the last one.
  explicit Object(int number);

  bool IsThere() const { return end != 0; }
  bool Holds(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= begin && at < end;
  }
  // Whether it is the library that a wrapper names ("libcudart.so"), under its own name or the one
  // that auditwheel gives to a copy ("libcudart-d0da41ae.so.11.0").
  bool IsOf(const char* library) const;

  // In the order of loading, which is that of the global scope: the program, what is preloaded,
  // what the program is linked with, what was opened later. -1: no file.
  int number = -1;
  std::uintptr_t begin = 0, end = 0;
  unsigned long long loads = 0;  // of objects, so far
  char path[PATH_MAX] = {};      // empty: the program itself, or no file
};

struct FunctionSearch {
  const void* address;  // null: by number
  int number;
  Object* found;
  int seen = 0;

  static int Visit(dl_phdr_info* info, std::size_t, void* data);
};

int FunctionSearch::Visit(dl_phdr_info* info, std::size_t, void* data) {
  auto* search = static_cast<FunctionSearch*>(data);
  Object* found = search->found;
  const int number = search->seen++;
  found->loads = info->dlpi_adds;
  if (search->address == nullptr && number != search->number) return 0;
  std::uintptr_t begin = UINTPTR_MAX, end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    begin = std::min<std::uintptr_t>(begin, info->dlpi_addr + part.p_vaddr);
    end = std::max<std::uintptr_t>(end, info->dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(search->address);
  if (search->address != nullptr && (address < begin || address >= end)) return 0;
  found->number = number;
  found->begin = begin;
  found->end = end;
  const std::size_t length = std::strlen(info->dlpi_name);
  if (length < sizeof found->path) std::memcpy(found->path, info->dlpi_name, length + 1);
  return 1;
}

Object::Object(const void* address) {
  FunctionSearch search{address, -1, this};
  if (dl_iterate_phdr(FunctionSearch::Visit, &search) != 0) return;
  begin = reinterpret_cast<std::uintptr_t>(address) / kPageBytes * kPageBytes;
  end = begin + kPageBytes;
}

Object::Object(int wanted) {
  FunctionSearch search{nullptr, wanted, this};
  dl_iterate_phdr(FunctionSearch::Visit, &search);
}

bool Object::IsOf(const char* library) const {
  const char* slash = std::strrchr(path, '/');
  const char* file = slash != nullptr ? slash + 1 : path;
  const char* const suffix = std::strstr(library, ".so");
  const auto stem = static_cast<std::size_t>(suffix - library);
  return std::strncmp(file, library, stem) == 0 &&
         (std::strncmp(file + stem, suffix, std::strlen(suffix)) == 0 || file[stem] == '-');
}

// What an object finds among itself and what it is linked with, directly or not.
void* FindFrom(const Object& object, const char* name) {
  void* handle = object.path[0] == '\0' ? nullptr : dlopen(object.path, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return nullptr;
  void* symbol = FindSymbol(handle, name);
  dlclose(handle);  // as often held as before
  return symbol;
}

// Finds what a call of `name` would have reached without us.
class LinkerView {
 public:
  LinkerView(const char* library, const char* name, const Object& caller)
      : library_(library),
        name_(name),
        caller_(caller),
        ours_(reinterpret_cast<const void*>(&FindFrom)) {}

  void* Find() {
    void* const linked = FindFrom(caller_, name_);
    defines_it_ = linked != nullptr && caller_.Holds(linked);
    // The library itself, which calls a public function of its own.
    if (defines_it_ && !IsInFront(caller_) && caller_.IsOf(library_)) return linked;
    // After us in the global scope. What is not the library stands in front of it, as we do, and is
    // called; where the caller stands in front of it, too, this is whom it asked for (RTLD_NEXT).
    void* next = FindSymbol(RTLD_NEXT, name_);
    if (next != nullptr && !IsUsable(next)) next = nullptr;
    if (next != nullptr && (defines_it_ || !Object(next).IsOf(library_))) return next;
    // It has its own, as what is linked with the static library does, and nobody stands in front.
    if (defines_it_ && caller_.number != 0 && !IsInFront(caller_)) return linked;
    if (linked != nullptr && !defines_it_ && IsUsable(linked)) return linked;
    if (next != nullptr) return next;
    return FindLoaded();
  }
  bool defines_it() const { return defines_it_; }

 private:
  // Preloaded before us: it is called before us, and asks for us (RTLD_NEXT). Calling it again
  // would never end.
  bool IsInFront(const Object& object) const {
    return object.number > 0 && object.number < ours_.number;
  }
  bool IsUsable(const void* symbol) const {
    if (ours_.Holds(symbol)) return false;
    const Object object(symbol);
    return !IsInFront(object) || (object.IsOf(library_) && !caller_.Holds(symbol));
  }

  // The caller relies on what somebody else loaded: the library, else whatever has the function.
  void* FindLoaded() const {
    if (void* symbol = FindLoaded(true)) return symbol;
    return FindLoaded(false);
  }
  // What was loaded together follows one another, so what follows the caller comes first.
  void* FindLoaded(bool by_library) const {
    const int from = std::max(caller_.number, 0);
    if (void* symbol = FindLoaded(by_library, from + 1, INT_MAX)) return symbol;
    return FindLoaded(by_library, 1, from);
  }
  void* FindLoaded(bool by_library, int first, int last) const {
    for (int number = first; number <= last; ++number) {
      const Object object(number);
      if (!object.IsThere()) break;
      if (by_library && !object.IsOf(library_)) continue;
      void* symbol = FindFrom(object, name_);
      if (symbol != nullptr && !caller_.Holds(symbol) && IsUsable(symbol)) return symbol;
    }
    return nullptr;
  }

  const char *library_, *name_;
  const Object& caller_;
  const Object ours_;
  bool defines_it_ = false;
};

// The library stays, as it would if nobody closed it: what is known of it must not go stale.
void KeepLoaded(void* symbol) {
  Dl_info found{};
  if (dladdr(symbol, &found) != 0 && found.dli_fname != nullptr)
    dlopen(found.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
}

}  // namespace

bool IsOfLibrary(const void* symbol, const char* library) { return Object(symbol).IsOf(library); }

void* RealSymbol::LookUp(const char* library, const char* name, const void* caller) {
  const int saved_errno = errno;
  const Object object(caller);
  void* symbol = nullptr;
  // Whoever probes for a library that is not there may do so often.
  if (absent_at_.load(std::memory_order_relaxed) != object.loads) {
    LinkerView view(library, name, object);
    symbol = view.Find();
    if (symbol == nullptr && !view.defines_it())
      absent_at_.store(object.loads, std::memory_order_relaxed);
  }
  // A caller with a function of its own may be closed, and another version of it loaded in its
  // place: it must neither be kept loaded for that, nor taken for the other.
  if (symbol != nullptr && !object.Holds(symbol)) Keep(object.begin, object.end, symbol);
  errno = saved_errno;
  return symbol;
}

void RealSymbol::Keep(std::uintptr_t begin, std::uintptr_t end, void* symbol) {
  KeepLoaded(symbol);
  if (count_.load(std::memory_order_relaxed) >= kMax) return;
  const int index = count_.fetch_add(1, std::memory_order_relaxed);
  if (index >= kMax) return;
  Caller& known = callers_[index];
  known.begin = begin;
  known.bytes = end - begin;
  known.symbol.store(symbol, std::memory_order_release);
  g_new_callers.count.fetch_add(1, std::memory_order_relaxed);
  if (g_new_callers.are_wanted.load(std::memory_order_relaxed)) g_wake.Post();
}

}  // namespace traceinject
