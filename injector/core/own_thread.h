// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <signal.h>

namespace traceinject {

// A thread of ours in the program: it must not take the program's signals, which are for its own
// threads. False: there is none.
inline bool StartOwnThread(pthread_t* thread, void* (*body)(void*), void* data) {
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
  const int error = pthread_create(thread, nullptr, body, data);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error == 0;
}

}  // namespace traceinject
