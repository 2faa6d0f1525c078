// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/python_process.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace traceinject {
namespace {

// A state that was given back while the list of threads was read may lead anywhere.
TEST(PythonProcessTest, StatesThatLeadToThemselves) {
  const PythonLayout layout = *LayoutOfVersion(8);
  std::array<std::uint64_t, 256> memory{};
  const auto at = [&](std::uint64_t address) -> std::uint64_t& {
    return memory[(address - reinterpret_cast<std::uint64_t>(memory.data())) / 8];
  };
  const auto runtime = reinterpret_cast<std::uint64_t>(memory.data());
  const std::uint64_t interpreter = runtime + 512, state = runtime + 1024;
  at(runtime + layout.interpreters_head) = interpreter;
  at(interpreter + layout.threads_head) = state;
  at(state + layout.thread_interpreter) = interpreter;
  at(state + layout.thread_next) = state;
  const auto python = std::make_unique<PythonProcess>(ProcessMemory(), layout, PythonTypes(),
                                                      runtime, /*tid_offset=*/-1);
  std::vector<PythonThread> threads;
  python->ReadThreads(&threads);
  EXPECT_TRUE(threads.empty());
}

}  // namespace
}  // namespace traceinject
