// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <string>
#include <variant>
#include <vector>

#include "analyzer/common/why_failed.h"
#include "viewer/app/heap.h"
#include "viewer/app/traceview.h"
#include "viewer/options/exit_code.h"

int main(int argc, char** argv) {
  using namespace traceinject;
  ReturnFreedColumns();
  try {
    const auto parsed = ParseOptions(std::vector<std::string>(argv + 1, argv + argc));
    if (const auto* options = std::get_if<ViewerOptions>(&parsed)) return Traceview(*options);
    const auto& usage = std::get<UsageText>(parsed);
    std::fputs(usage.text.c_str(), usage.exit_code == kExitOk ? stdout : stderr);
    return usage.exit_code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "traceview: %s\n", WhyFailed(error).c_str());
    return kExitUnreadable;
  }
}
