// SPDX-License-Identifier: Apache-2.0
// The loaded libcuda, libcudart and libnccl: facts that need no context, and whether the GPU is in
// use.
#pragma once

#include <vector>

#include "injector/rows/rows.h"

namespace traceinject {

// The GPUs that the process can see. Empty without a driver. Safe after cuInit, creates no context.
std::vector<DeviceRow> ReadDevices();

// driver_version, runtime_version and nccl_version of `facts`.
void ReadVersions(ProcessRow* facts);

// Whether a primary context is active on some device: the process does, or is about to do, GPU
// work. A process that only counted devices, like a launcher, has none.
bool HasActiveContext();

// Makes the primary context of the device, which the program uses, that of the calling thread,
// which is one of ours. False: the program does not use it, or the driver refuses.
bool UsePrimaryContext(int device);

// Calls cuDeviceGetCount, for nothing but the call.
void CountDevices();

}  // namespace traceinject
