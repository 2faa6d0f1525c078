// SPDX-License-Identifier: Apache-2.0
// Opens its first argument, prints what that answers, and closes it; then does the same with each
// further argument in the place of the first, as programs do that rebuild a plug-in while they run.
#include <dlfcn.h>

#include <cstdio>

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    if (i > 1 && std::rename(arguments[i], arguments[1]) != 0) return 3;
    void* plug_in = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (plug_in == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 2;
    std::printf("%d\n", reinterpret_cast<int (*)()>(dlsym(plug_in, "Version"))());
    dlclose(plug_in);
  }
}
