// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "analyzer/commands/analyze.h"
#include "analyzer/commands/heap.h"

int main(int argc, char** argv) {
  traceinject::SetUpHeap();
  try {
    return traceinject::Analyze(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    // Expected failures are values; what arrives here is no memory, or a mistake of ours.
    std::fprintf(stderr, "analyze: %s\n", error.what());
    return traceinject::kUnreadable;
  }
}
