// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/fake_gpu/train/train_options.h"

namespace traceinject::fake {

// NCCL's plug-in is then initialized before the injection library records.
void MakeCommunicatorEarly(const TrainOptions& options);

// Plays the steps of one thread: thread 0 is the caller of main(), the others run beside it.
void PlaySteps(const TrainOptions& options, int thread);

// One launch on the default stream, and an NVTX range around it.
void PlayOneLaunch(const TrainOptions& options);

}  // namespace traceinject::fake
