// SPDX-License-Identifier: Apache-2.0
// The constructor, the entry point that libcuda calls during cuInit, and the exit paths that no
// atexit handler sees.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injector/base/exported.h"
#include "injector/base/linker_symbol.h"
#include "injector/environment/environment.h"
#include "injector/recorder/recorder.h"
#include "injector/tries/tries.h"

extern "C" __attribute__((constructor)) void TraceinjectLoaded() {
  if (traceinject::PublishLibrary()) traceinject::StartTries();
}

extern "C" TRACEINJECT_EXPORT int InitializeInjection(void) {
  traceinject::StartRecording();
  return 1;
}

// For programs that look at the file: readelf --dyn-syms, strings.
extern "C" {
extern __attribute__((visibility("default"))) const char traceinject_version[];
__attribute__((used)) const char traceinject_version[] = "traceinject " TRACEINJECT_VERSION;
}

namespace {

// The C library's, or those of a library preloaded after this one. Looked up by the constructor:
// signal handlers and forked children leave this way, too, and the dynamic linker is not for them.
using Exit = void(int);
constinit Exit *g_next_exit = nullptr, *g_next_c_exit = nullptr;

__attribute__((constructor)) void FindExits() {
  g_next_exit = reinterpret_cast<Exit*>(traceinject::FindSymbol(RTLD_NEXT, "_exit"));
  g_next_c_exit = reinterpret_cast<Exit*>(traceinject::FindSymbol(RTLD_NEXT, "_Exit"));
}

[[noreturn]] void Leave(Exit* next, int status) {
  traceinject::FinishRecording(traceinject::kHurryMs);
  if (next != nullptr) next(status);
  for (;;) syscall(SYS_exit_group, status);
}

}  // namespace

extern "C" TRACEINJECT_EXPORT void _exit(int status) { Leave(g_next_exit, status); }
extern "C" TRACEINJECT_EXPORT void _Exit(int status) noexcept { Leave(g_next_c_exit, status); }
