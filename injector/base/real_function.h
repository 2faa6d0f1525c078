// SPDX-License-Identifier: Apache-2.0
// The function that a wrapper of ours stands in front of.
//
// A call goes where the dynamic linker would have sent it without us; each object that calls is
// looked up once, but for those that call a function of their own.
// - Others may stand in front of the library as we do, by LD_PRELOAD or /etc/ld.so.preload (whose
//   libraries follow those of LD_PRELOAD). Who stands after us is called. Who stands before us has
//   been called already and asks for the next one: it is not called again.
// - A process may hold several versions of a library (two frameworks, each with its own cuBLAS),
//   and what one made is of no use to another. So it is the one that the caller is linked with.
// - Some are linked with nothing and find what their program, or the plug-in that they came with,
//   loaded. As long as any object has the function, it is called.
//
// Programs that probe for a function by dlsym(RTLD_DEFAULT) or a weak reference find ours, also
// where there is no such library; the call then fails as the library itself does that is not set
// up.
#pragma once

#include <atomic>
#include <cstdint>

namespace traceinject {

// Code that calls a wrapped function for the first time may be of an object that was just loaded,
// and will be gone soon.
struct NewCallers {
  std::atomic<bool> are_wanted{false};  // the writer is woken for them
  std::atomic<unsigned> count{0};
};
inline constinit NewCallers g_new_callers{};

// What is known of one function: all zero at first, so that it takes no room in the file.
class RealSymbol {
 public:
  // For a call from the code at `caller`: the function `name` of a library whose file name begins
  // with `library` ("libcudart.so"), or whatever stands in front of that. Null: no loaded object
  // has such a function. O(calling objects); the first call of each takes the dynamic linker's
  // lock.
  void* Get(const char* library, const char* name, const void* caller) {
    const auto at = reinterpret_cast<std::uintptr_t>(caller);
    const int count = count_.load(std::memory_order_relaxed);
    for (int i = 0; i < count && i < kMax; ++i) {
      const Caller& known = callers_[i];
      void* symbol = known.symbol.load(std::memory_order_acquire);
      if (symbol != nullptr && at - known.begin < known.bytes) return symbol;
    }
    return LookUp(library, name, caller);
  }

 private:
  static constexpr int kMax = 32;  // callers of a function; later ones are looked up each time

  struct Caller {
    // An object of the process. One that is loaded where another was closed is taken for that one:
    // right unless they are linked with different versions.
    std::uintptr_t begin, bytes;
    std::atomic<void*> symbol;  // null: not filled in yet
  };

  void* LookUp(const char* library, const char* name, const void* caller);
  void Keep(std::uintptr_t begin, std::uintptr_t end, void* symbol);

  std::atomic<int> count_{0};
  // How many objects had been loaded so far when none had the function.
  std::atomic<unsigned long long> absent_at_{0};
  Caller callers_[kMax]{};
};

template <typename Function>
class RealFunction {
 public:
  Function* Get(const char* library, const char* name, const void* caller) {
    return reinterpret_cast<Function*>(symbol_.Get(library, name, caller));
  }

 private:
  RealSymbol symbol_;
};

// Whether the code at `symbol` is of a library whose file name begins with `library`, and not of
// what stands in front of it. Takes the dynamic linker's lock.
bool IsOfLibrary(const void* symbol, const char* library);

// In a wrapper: where it is called from.
#define TRACEINJECT_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

}  // namespace traceinject
