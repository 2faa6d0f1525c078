// SPDX-License-Identifier: Apache-2.0
// Preloaded beside libtraceinject.so: from call FAIL_MALLOC_FROM on, malloc finds no memory for a
// thread of the library's own, as under a limit of the address space; FAIL_MALLOC_TIMES: so many
// times only. FAIL_MALLOC_THREAD: its name, that of the writer unless set. FAIL_MALLOC_NEW=1: only
// calls from where the thread's first came are counted and fail, which is operator new; most others
// are SQLite's. The program's threads are served, and so are other libraries that the library
// calls: CUPTI's stand-in is no subject of the test.
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <cstddef>

extern "C" void* __libc_malloc(std::size_t bytes);

namespace {

bool OnVictimThread() {
  static const char* victim = getenv("FAIL_MALLOC_THREAD");
  char name[16] = {};
  return prctl(PR_GET_NAME, name) == 0 &&
         strcmp(name, victim != nullptr ? victim : "traceinject") == 0;
}

bool IsOfTheLibrary(const void* caller) {
  Dl_info info;
  return dladdr(caller, &info) != 0 && info.dli_fname != nullptr &&
         strstr(info.dli_fname, "libtraceinject.so") != nullptr;
}

// Of the one thread that gets beyond OnVictimThread().
long g_calls = 0;
const void* g_first_caller = nullptr;

bool IsCounted(const void* caller) {
  static const bool new_only = getenv("FAIL_MALLOC_NEW") != nullptr;
  if (g_first_caller == nullptr) g_first_caller = caller;
  return !new_only || caller == g_first_caller;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void* malloc(std::size_t bytes) {
  static const char* from = getenv("FAIL_MALLOC_FROM");
  static const char* times = getenv("FAIL_MALLOC_TIMES");
  const void* caller = __builtin_return_address(0);
  if (from != nullptr && OnVictimThread() && IsOfTheLibrary(caller) && IsCounted(caller) &&
      ++g_calls >= atol(from) && (times == nullptr || g_calls < atol(from) + atol(times))) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_malloc(bytes);
}
