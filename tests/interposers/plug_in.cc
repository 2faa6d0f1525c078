// SPDX-License-Identifier: Apache-2.0
// Opened with RTLD_LOCAL; brings the caller, and what that is not linked with.
extern "C" int CallAll();

extern "C" __attribute__((visibility("default"))) int CallAllFromPlugIn() { return CallAll(); }
