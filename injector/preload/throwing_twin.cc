// SPDX-License-Identifier: Apache-2.0
// Linked with the library's objects into a twin of it, for a test: throws through several frames
// when the program loads it and says what it caught. The unwinder and its _dl_find_object
// (compatibility.cc) are the library's own; a broken one ends the program here.
#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

[[gnu::noinline]] void Throw(int frames) {
  if (frames == 0) throw std::runtime_error(std::string("thrown ") + "inside");
  Throw(frames - 1);
  std::fflush(stdout);  // keeps this frame on the stack
}

__attribute__((constructor)) void ThrowAndCatch() {
  try {
    Throw(5);
  } catch (const std::exception& error) {
    std::printf("caught: %s\n", error.what());
    std::fflush(stdout);
  }
}

}  // namespace
