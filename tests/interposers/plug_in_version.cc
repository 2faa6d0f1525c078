// SPDX-License-Identifier: Apache-2.0
// Has a function that we wrap itself, as what is linked with the static library does. Another
// VERSION of it may be loaded once this one was closed.
#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int cudaDeviceSynchronize() { return VERSION; }
EXPORT int Version() { return 10 * cudaDeviceSynchronize() + VERSION; }
