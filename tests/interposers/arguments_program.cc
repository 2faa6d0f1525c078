// SPDX-License-Identifier: Apache-2.0
// Calls each function that a header declares with a value of its own for each argument, prints what
// the library got otherwise, and how many functions and arguments there were.
#include <cstdio>
#include <cstring>

#include "tests/interposers/arguments.h"

#define F(name, mask) DECLARE_WITH_ARGUMENTS(name);
#include "signatures.h"
#undef F

namespace {

// Both halves differ from argument to argument.
constexpr Argument Value(int i) {
  return 0x1100000001000000 * static_cast<Argument>(i + 1) + static_cast<Argument>(i + 1);
}

int functions = 0, arguments = 0;

// What counts of an argument: the rest of its register means nothing.
Argument Part(char width) {
  return width == 'w' ? UINT64_MAX : width == 'i' ? UINT32_MAX : UINT8_MAX;
}

void Check(const char* name, const char* widths, int result) {
  ++functions;
  if (result != 7) std::printf("%s returned %d\n", name, result);
  for (int i = 0; widths[i] != '\0'; ++i) {
    ++arguments;
    if (((g_got[i] ^ Value(i)) & Part(widths[i])) != 0)
      std::printf("%s: argument %d is %llx\n", name, i + 1,
                  static_cast<unsigned long long>(g_got[i]));
  }
}

}  // namespace

int main() {
#define F(name, mask)                  \
  std::memset(g_got, 0, sizeof g_got); \
  Check(#name, mask, name(FOR_EACH_ARGUMENT(Value)));
#include "signatures.h"
  std::printf("%d functions, %d arguments\n", functions, arguments);
}
