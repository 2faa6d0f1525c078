// SPDX-License-Identifier: Apache-2.0
// What native_program loads, calls, and unloads.
#include "tests/end_to_end/native/launches.h"

KERNEL(plugin_kernel, "_Z13plugin_kernelPf", 100'000)

NOINLINE static void layer_of_plugin() {
  for (int i = 0; i < 5; ++i) plugin_kernel(nullptr);
  cudaDeviceSynchronize();
  NOT_LAST;
}

extern "C" void plugin_work() {
  for (int i = 0; i < 10; ++i) layer_of_plugin();
  NOT_LAST;
}
