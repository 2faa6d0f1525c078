// SPDX-License-Identifier: Apache-2.0
// Prints what getenv() says of its second argument, and ends by the function that its first one
// names.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int, char** arguments) {
  const char* answer = std::getenv(arguments[2]);
  std::printf("%s\n", answer == nullptr ? "(none)" : answer);
  std::fflush(stdout);
  if (std::strcmp(arguments[1], "_exit") == 0) _exit(3);
  std::_Exit(3);
}
