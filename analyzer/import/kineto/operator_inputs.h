// SPDX-License-Identifier: Apache-2.0
// What a PyTorch trace with record_shapes=True tells of the inputs of an operator: lists in JSON.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace traceinject {

using TensorSizes = std::vector<std::int64_t>;
// One tensor; of a list of tensors all. What is no tensor looks like one without dimensions.
using OperatorInput = std::vector<TensorSizes>;

// "[[32, 64], [[8], [8]], []]". Each has one tensor at least. O(length).
std::vector<OperatorInput> ParseInputDims(std::string_view json);

// The texts of a list, "["float", "", "[2, 2]"]"; of a list inside it the first. O(length).
std::vector<std::string_view> ParseTexts(std::string_view json);

// All whole numbers in a text such as "[2, 2]". O(length).
std::vector<std::int64_t> ParseNumbers(std::string_view text);

// The element types of tensors, which have one name among the inputs of an operator and another one
// in the metadata of a collective.
struct TensorType {
  std::string_view of_input;       // "float", "c10::Half"
  std::string_view of_collective;  // "Float", "Half": c10::ScalarType
  int bytes = 0;
  int cuda_type = -1;  // cudaDataType; -1: none
};

// By either name. Null: unknown.
const TensorType* FindTensorType(std::string_view name);

// How many numbers a tensor holds; -1: too many to count.
std::int64_t CountElements(const TensorSizes& sizes);

}  // namespace traceinject
