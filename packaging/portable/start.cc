// SPDX-License-Identifier: Apache-2.0
// How a program starts with a glibc older than the one it is linked with. The compiler's start code
// calls __libc_start_main, since 2.34 without a function that runs the program's constructors: the
// new version of it finds them itself. The old one, which all glibcs have, runs none unless told.
#include <unistd.h>

extern "C" {

using Main = int (*)(int, char**, char**);
using Constructor = void (*)(int, char**, char**);

int traceinject_old_start_main(Main main, int argc, char** argv, Constructor run_constructors,
                               void (*run_destructors)(), void (*loader_ends)(), void* stack_end);
#if defined(__x86_64__)
asm(".symver traceinject_old_start_main, __libc_start_main@GLIBC_2.2.5");
#elif defined(__aarch64__)
asm(".symver traceinject_old_start_main, __libc_start_main@GLIBC_2.17");
#else
#error "Say which version of __libc_start_main is this machine's first."
#endif

// From the compiler's crti.o and from the linker.
void _init();
extern __attribute__((visibility("hidden"))) const Constructor __init_array_start[];
extern __attribute__((visibility("hidden"))) const Constructor __init_array_end[];

static void RunConstructors(int argc, char** argv, char** environment) {
  _init();
  for (const Constructor* constructor = __init_array_start; constructor != __init_array_end;
       ++constructor)
    (*constructor)(argc, argv, environment);
}

// The dynamic loader runs the destructors.
__attribute__((visibility("hidden"))) int __libc_start_main(Main main, int argc, char** argv,
                                                            Constructor, void (*)(),
                                                            void (*loader_ends)(),
                                                            void* stack_end) {
  return traceinject_old_start_main(main, argc, argv, RunConstructors, nullptr, loader_ends,
                                    stack_end);
}

}  // extern "C"
