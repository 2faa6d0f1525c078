// SPDX-License-Identifier: Apache-2.0
// What the wrappers need of cuDNN's interface, which no header has to be installed for. The same in
// cuDNN 8 and 9; source: cudnn_graph_v9.h, cudnn_ops_v9.h and cudnn_cnn_v9.h of cuDNN 9.
// Enumerations are ints, handles and descriptors pointers. A program that is built with the real
// headers holds these numbers against them (tests/fake_gpu/clients/convolution_user.cc).
#pragma once

namespace traceinject::cudnn {

// cuDNN 9 consists of several libraries: libcudnn_graph.so, libcudnn_cnn.so, ...
inline constexpr char kLibrary[] = "libcudnn";

inline constexpr int kSuccess = 0, kNotInitialized = 1001;  // cudnnStatus_t; before cuDNN 9: 1

// cudnnDataType_t
enum DataType : int {
  kFloat = 0,
  kDouble = 1,
  kHalf = 2,
  kInt8 = 3,
  kInt32 = 4,
  kUint8 = 6,
  kBfloat16 = 9,
  kFp8E4m3 = 12,
  kFp8E5m2 = 13,
};

// cudnnBackendAttributeType_t
inline constexpr int kTypeDataType = 1, kTypeBoolean = 2, kTypeInt64 = 3, kTypeDescriptor = 15;

// cudnnBackendAttributeName_t, each of one kind of descriptor
enum Attribute : int {
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kConfigurationEngine = 300,
  kPlanConfiguration = 401,
  kForwardWeights = 703,
  kForwardInput = 704,
  kForwardOutput = 705,
  kBackwardDataWeights = 709,
  kBackwardDataInput = 710,   // its gradient
  kBackwardDataOutput = 711,  // its gradient
  kBackwardFilterWeights = 715,
  kBackwardFilterInput = 716,
  kBackwardFilterOutput = 717,
  kGraphOperations = 801,
  kTensorDataType = 901,
  kTensorDimensions = 902,
  kTensorIsVirtual = 907,
  kEngineGraph = 1300,
};

inline constexpr int kMostDimensions = 8;  // CUDNN_DIM_MAX

}  // namespace traceinject::cudnn
