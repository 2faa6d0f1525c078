// SPDX-License-Identifier: Apache-2.0
#include "injector/cudnn/convolution.h"

namespace traceinject {
namespace {

struct TypeRow {
  int cudnn, cuda;
  std::int64_t bytes;
};
constexpr TypeRow kTypes[] = {
    {cudnn::kFloat, 0, 4},     {cudnn::kDouble, 1, 8},   {cudnn::kHalf, 2, 2},
    {cudnn::kInt8, 3, 1},      {cudnn::kInt32, 10, 4},   {cudnn::kUint8, 8, 1},
    {cudnn::kBfloat16, 14, 2}, {cudnn::kFp8E4m3, 28, 1}, {cudnn::kFp8E5m2, 29, 1},
};

// Empty: there is none, or it does not fit.
std::optional<std::int64_t> Product(const ConvolutionTensor& tensor, int first) {
  std::int64_t product = 1;
  for (int i = first; i < tensor.count; ++i) {
    if (tensor.sizes[i] <= 0 || __builtin_mul_overflow(product, tensor.sizes[i], &product))
      return std::nullopt;
  }
  return product;
}

// 0: the type is not known.
std::int64_t Bytes(const ConvolutionTensor& tensor, int type) {
  const auto elements = Product(tensor, 0);
  for (const TypeRow& row : kTypes) {
    std::int64_t bytes = 0;
    if (row.cuda == type && elements && !__builtin_mul_overflow(*elements, row.bytes, &bytes))
      return bytes;
  }
  return 0;
}

std::int64_t LeastBytes(const ConvolutionTensor& input, const ConvolutionTensor& weights,
                        const ConvolutionTensor& output) {
  // What takes the place of an output that is not written is as large as one, of the input's type.
  const int output_type = output.is_virtual ? input.type : output.type;
  std::int64_t sum = 0;
  for (const std::int64_t bytes :
       {Bytes(input, input.type), Bytes(weights, weights.type), Bytes(output, output_type)}) {
    if (bytes == 0 || __builtin_add_overflow(sum, bytes, &sum)) return 0;
  }
  return sum;
}

}  // namespace

int CudaTypeOf(int cudnn_type) {
  for (const TypeRow& row : kTypes) {
    if (row.cudnn == cudnn_type) return row.cuda;
  }
  return -1;
}

std::optional<Convolution> ConvolutionOf(ConvolutionKind kind, const ConvolutionTensor& input,
                                         const ConvolutionTensor& weights,
                                         const ConvolutionTensor& output) {
  const int count = weights.count;
  if (count < 3 || input.count != count || output.count != count) return std::nullopt;
  const auto places = Product(output, 2), depth = Product(weights, 1);
  const std::int64_t channels = weights.sizes[0], of_group = weights.sizes[1];
  if (!places || !depth || !Product(input, 0) || channels <= 0) return std::nullopt;
  const std::int64_t groups = input.sizes[1] / of_group;
  if (input.sizes[1] % of_group != 0 || channels % groups != 0 || output.sizes[1] != channels ||
      output.sizes[0] != input.sizes[0])
    return std::nullopt;
  Convolution found;
  found.kind = kind;
  found.m = channels / groups;
  if (__builtin_mul_overflow(output.sizes[0], *places, &found.n)) return std::nullopt;
  found.k = *depth;
  found.groups = groups;
  const bool by_output = kind == ConvolutionKind::kBackwardData;
  const bool to_weights = kind == ConvolutionKind::kBackwardFilter;
  found.type_a = by_output ? output.type : input.type;
  found.type_b = to_weights ? output.type : weights.type;
  found.type_c = by_output ? input.type : to_weights ? weights.type : output.type;
  found.least_bytes = LeastBytes(input, weights, output);
  return found;
}

}  // namespace traceinject
