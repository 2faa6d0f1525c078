// SPDX-License-Identifier: Apache-2.0
// Preloaded: from the REFUSE_THREADS_FROM-th on no thread is made, as where a user or a container
// may have no more processes.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <atomic>

extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* data) {
  using Function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_create"));
  static std::atomic<int> asked{0};
  const char* from = getenv("REFUSE_THREADS_FROM");
  if (from != nullptr && ++asked >= atoi(from)) return EAGAIN;
  return next(thread, attributes, body, data);
}
