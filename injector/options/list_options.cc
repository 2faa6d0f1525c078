// SPDX-License-Identifier: Apache-2.0
// Prints the options as the Markdown table of docs/options.md, which a test compares with the file.
#include <cstdio>
#include <string>

#include "injector/options/options.h"

int main() {
  std::puts("| variable | default | meaning |\n|---|---|---|");
  for (const traceinject::OptionInfo& option : traceinject::ListOptions()) {
    const std::string default_value =
        option.default_value.empty() ? "" : "`" + std::string(option.default_value) + "`";
    std::printf("| `%s` | %s | %s |\n", std::string(option.name).c_str(), default_value.c_str(),
                std::string(option.help).c_str());
  }
  return 0;
}
