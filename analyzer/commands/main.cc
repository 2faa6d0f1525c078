// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <climits>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "analyzer/commands/analyze.h"

namespace {

// Passes over a long recording each allocate columns of its length and free them. The C library
// would give these back to the system each time, and the next pass would touch new pages one by
// one: 670,000 page faults for a report on 10 million kernels, a sixth of its processor time, where
// 250,000 are left if freed memory is kept. Memory in use does not grow by it.
void KeepFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_ARENA_MAX, 1);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  KeepFreedMemory();
  try {
    return traceinject::Analyze(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    // Expected failures are values; what arrives here is no memory, or a mistake of ours.
    std::fprintf(stderr, "analyze: %s\n", error.what());
    return traceinject::kUnreadable;
  }
}
