// SPDX-License-Identifier: Apache-2.0
// The environment variables by which CUDA, NVTX and NCCL find an injection library.
#pragma once

#include <string>

namespace traceinject {

// Names our own file in them, without overwriting what another tool set. All that the constructor
// does.
void PublishLibrary();

// The library that CUDA loads instead of us; empty when it is ours or none.
std::string ForeignInjection();

}  // namespace traceinject
