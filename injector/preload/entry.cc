// SPDX-License-Identifier: Apache-2.0
// The entry point that libcuda calls during cuInit, and the exit paths that no atexit handler sees.
#include <sys/syscall.h>
#include <unistd.h>

#include "injector/core/recorder.h"
#include "injector/preload/exported.h"

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

// Programs that leave by _exit (os._exit, a forked worker's end) are in a hurry.
constexpr long kHurryMs = 2000;

[[noreturn]] void Leave(int status) {
  traceinject::FinishRecording(kHurryMs);
  for (;;) syscall(SYS_exit_group, status);
}

}  // namespace

extern "C" TRACEINJECT_EXPORT void _exit(int status) { Leave(status); }
extern "C" TRACEINJECT_EXPORT void _Exit(int status) noexcept { Leave(status); }
