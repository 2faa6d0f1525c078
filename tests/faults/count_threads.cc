// SPDX-License-Identifier: Apache-2.0
// Preloaded beside libtraceinject.so: the file COUNT_THREADS gets a byte for each thread that is
// made.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* data) {
  using Function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_create"));
  const char* path = getenv("COUNT_THREADS");
  const int file =
      path == nullptr ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file >= 0) {
    [[maybe_unused]] const ssize_t written = write(file, "x", 1);
    close(file);
  }
  return next(thread, attributes, body, data);
}
