// SPDX-License-Identifier: Apache-2.0
// The library as a program: the dynamic loader runs it (ld.so libtraceinject.so try-counters ...)
// for trials of counters (counters/set_trial.h). The loader has relocated everything by then and
// run the constructors of the C library, but not ours, which a program's own start code runs.
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "injector/counters/set_trial.h"

// Where the loader jumps to (the linker is told: -e): the stack begins with argc and argv.
#if defined(__x86_64__)
asm(R"(
.text
.globl traceinject_program
.hidden traceinject_program
.type traceinject_program, @function
traceinject_program:
  xorl %ebp, %ebp
  movq %rsp, %rdi
  andq $-16, %rsp
  call traceinject_run
  hlt
.size traceinject_program, .-traceinject_program
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl traceinject_program
.hidden traceinject_program
.type traceinject_program, %function
traceinject_program:
  mov x29, #0
  mov x30, #0
  mov x0, sp
  bl traceinject_run
.size traceinject_program, .-traceinject_program
)");
#else
#error "Say how the loader enters a program here."
#endif

extern "C" __attribute__((visibility("hidden"))) const ElfW(Ehdr) __ehdr_start;

namespace {

void RunConstructors(int argc, char** argv, char** environment) {
  const auto base = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
  std::uintptr_t first = 0;
  std::size_t bytes = 0;
  // _DYNAMIC is of this object, from the linker.
  for (const ElfW(Dyn)* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_INIT_ARRAY) first = base + entry->d_un.d_ptr;
    if (entry->d_tag == DT_INIT_ARRAYSZ) bytes = entry->d_un.d_val;
  }
  using Constructor = void (*)(int, char**, char**);
  auto* constructors = reinterpret_cast<const Constructor*>(first);
  for (std::size_t i = 0; i < bytes / sizeof(Constructor); ++i)
    constructors[i](argc, argv, environment);
}

int Run(const std::vector<std::string>& arguments) {
  if (!arguments.empty()) return traceinject::RunTrial(arguments);
  constexpr std::string_view kText =
      "traceinject " TRACEINJECT_VERSION
      ": this library is preloaded and not run: LD_PRELOAD=libtraceinject.so python train.py\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText.data(), kText.size());
  return 2;
}

}  // namespace

extern "C" __attribute__((visibility("hidden"), used, noreturn)) void traceinject_run(long* stack) {
  const int argc = static_cast<int>(stack[0]);
  auto** argv = reinterpret_cast<char**>(stack + 1);
  RunConstructors(argc, argv, argv + argc + 1);
  int status = 1;
  try {
    status = Run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (...) {  // out of memory
  }
  // Nothing of ours is registered for an exit, and CUDA's handlers are not worth a crash.
  for (;;) syscall(SYS_exit_group, status);
}
