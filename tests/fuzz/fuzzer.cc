// SPDX-License-Identifier: Apache-2.0
// fuzz TARGET [libFuzzer's options and folders]: libFuzzer makes up inputs for a target.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/target.h"

namespace {

const traceinject::FuzzTarget* g_target = nullptr;

}  // namespace

// What libFuzzer calls.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes);

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  g_target = *count > 1 ? traceinject::FindFuzzTarget((*arguments)[1]) : nullptr;
  if (g_target == nullptr) {
    // run.sh reads the names.
    for (const auto& target : traceinject::FuzzTargets())
      std::printf("%.*s\n", static_cast<int>(target.name.size()), target.name.data());
    std::exit(*count > 1 ? 2 : 0);
  }
  for (int i = 1; i < *count; ++i) (*arguments)[i] = (*arguments)[i + 1];
  --*count;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  if (bytes > g_target->most_bytes) return -1;  // not to be kept
  const std::string wrong = g_target->run({reinterpret_cast<const char*>(data), bytes});
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "wrong:\n%s\n", wrong.c_str());
  std::abort();
}
