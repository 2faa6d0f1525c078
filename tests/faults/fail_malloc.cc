// SPDX-License-Identifier: Apache-2.0
// Preloaded beside libtraceinject.so: from call FAIL_MALLOC_FROM on, malloc finds no memory for the
// library's own thread, as under a limit of the address space; FAIL_MALLOC_TIMES: so many times
// only. The program's threads are served.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <cstddef>

extern "C" void* __libc_malloc(std::size_t bytes);

namespace {

bool OnWriterThread() {
  char name[16] = {};
  return prctl(PR_GET_NAME, name) == 0 && strcmp(name, "traceinject") == 0;
}

// Of the one thread that gets beyond OnWriterThread().
long g_calls = 0;

}  // namespace

extern "C" __attribute__((visibility("default"))) void* malloc(std::size_t bytes) {
  static const char* from = getenv("FAIL_MALLOC_FROM");
  static const char* times = getenv("FAIL_MALLOC_TIMES");
  if (from != nullptr && OnWriterThread() && ++g_calls >= atol(from) &&
      (times == nullptr || g_calls < atol(from) + atol(times))) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_malloc(bytes);
}
