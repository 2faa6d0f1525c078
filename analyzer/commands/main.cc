// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "analyzer/commands/analyze.h"
#include "analyzer/commands/heap.h"
#include "analyzer/common/why_failed.h"

int main(int argc, char** argv) {
  traceinject::SetUpHeap();
  try {
    return traceinject::Analyze(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "analyze: %s\n", traceinject::WhyFailed(error).c_str());
    return traceinject::kUnreadable;
  }
}
