// SPDX-License-Identifier: Apache-2.0
// A convolution as the matrix product that it amounts to.
//
// Each number of the output is the sum over the channels of its group and the places of the filter:
// m output channels of a group, n places of all outputs of the batch, k channels of a group times
// places of the filter, once for each group. Both backward convolutions are products of the same
// numbers in other roles, so that each takes 2 m n k groups floating-point operations, too. It is
// what counters of FLOPs count (torch.utils.flop_counter), whatever the kernel does: Winograd's
// takes fewer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "injector/cudnn/cudnn_abi.h"

namespace traceinject {

enum class ConvolutionKind : std::uint8_t { kForward, kBackwardData, kBackwardFilter };

// Batch, channels and the places; of a filter: output channels, channels of a group, the places.
struct ConvolutionTensor {
  int count = 0;  // of dimensions; 0: not known
  std::array<std::int64_t, cudnn::kMostDimensions> sizes{};
  int type = -1;            // cudaDataType; -1: unknown
  bool is_virtual = false;  // is never written: the operations that follow are in the same kernel
};

struct Convolution {
  ConvolutionKind kind = ConvolutionKind::kForward;
  std::int64_t m = 0, n = 0, k = 0, groups = 0;
  int type_a = -1, type_b = -1, type_c = -1;  // of what is read, and of the result
  // Input, filter and output, each moved once; 0: a type is not known.
  std::int64_t least_bytes = 0;
};

// cudaDataType of a cudnnDataType_t; -1: one that has none.
int CudaTypeOf(int cudnn_type);

// Tensors as in the forward convolution, or their gradients. Empty: sizes that do not fit together.
std::optional<Convolution> ConvolutionOf(ConvolutionKind kind, const ConvolutionTensor& input,
                                         const ConvolutionTensor& weights,
                                         const ConvolutionTensor& output);

}  // namespace traceinject
