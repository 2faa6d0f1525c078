// SPDX-License-Identifier: Apache-2.0
// What the name of a kernel shows of what its program could do otherwise: a precision, an
// alignment, a library for a newer GPU, a fused call. Each looks at one name.
#pragma once

#include <string_view>

#include "analyzer/model/kernel_traits.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Loads one or two numbers of a row at a time, because rows are no multiple of more.
bool LoadsUnalignedRows(std::string_view name);

// On tensor cores, but not with the matrix instructions of this GPU.
bool IsBuiltForOlderGpu(const KernelTraits& traits, const Device& device);

// A product or convolution of fp32 without tensor cores, but not one of a matrix and a vector,
// which memory limits.
bool MultipliesOnOrdinaryCores(std::string_view name, const KernelTraits& traits);

// A softmax in a kernel of its own, forward or backward; not that of a loss, which takes the
// logarithm.
bool IsPlainSoftmax(std::string_view name);
bool IsSoftmaxBackward(std::string_view name);

}  // namespace traceinject
