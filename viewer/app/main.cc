// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <cstdio>
#include <exception>
#include <string>
#include <variant>
#include <vector>

#include "viewer/app/traceview.h"
#include "viewer/options/exit_code.h"

namespace {

// Columns of a long recording come and go while it is read and arranged. Left to itself the C
// library soon keeps what is freed of up to 32 MB each, for a next one that does not fit: 18 % of
// the memory of 4 million events. The viewer stays open; a report, which ends, keeps it all.
void ReturnFreedColumns() {
#ifdef __GLIBC__
  constexpr int kColumnBytes = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, kColumnBytes);
#endif
}

}  // namespace

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
    // Expected failures are values; what arrives here is no memory, or a mistake of ours.
    std::fprintf(stderr, "traceview: %s\n", error.what());
    return kExitUnreadable;
  }
}
