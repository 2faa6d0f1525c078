// SPDX-License-Identifier: Apache-2.0
// A library that calls cuDNN, loaded with RTLD_LOCAL as PyTorch's is: RunConvolutions() asks for
// one of each kind, by the older functions and by plans that it builds as PyTorch's front end does,
// and returns how many calls did not return what they should.
#include <cudnn.h>

#include <cstdint>
#include <vector>

#include "injector/cudnn/cudnn_abi.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

namespace abi = traceinject::cudnn;

template <typename Theirs>
constexpr bool IsSame(int ours, Theirs theirs) {
  return ours == static_cast<int>(theirs);
}

static_assert(IsSame(abi::kSuccess, CUDNN_STATUS_SUCCESS));
static_assert(IsSame(abi::kNotInitialized, CUDNN_STATUS_NOT_INITIALIZED));
static_assert(IsSame(abi::kFloat, CUDNN_DATA_FLOAT));
static_assert(IsSame(abi::kDouble, CUDNN_DATA_DOUBLE));
static_assert(IsSame(abi::kHalf, CUDNN_DATA_HALF));
static_assert(IsSame(abi::kInt8, CUDNN_DATA_INT8));
static_assert(IsSame(abi::kInt32, CUDNN_DATA_INT32));
static_assert(IsSame(abi::kUint8, CUDNN_DATA_UINT8));
static_assert(IsSame(abi::kBfloat16, CUDNN_DATA_BFLOAT16));
static_assert(IsSame(abi::kFp8E4m3, CUDNN_DATA_FP8_E4M3));
static_assert(IsSame(abi::kFp8E5m2, CUDNN_DATA_FP8_E5M2));
static_assert(IsSame(abi::kTypeDataType, CUDNN_TYPE_DATA_TYPE));
static_assert(IsSame(abi::kTypeBoolean, CUDNN_TYPE_BOOLEAN));
static_assert(IsSame(abi::kTypeInt64, CUDNN_TYPE_INT64));
static_assert(IsSame(abi::kTypeDescriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR));
static_assert(IsSame(abi::kHeuristicsGraph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH));
static_assert(IsSame(abi::kHeuristicsResults, CUDNN_ATTR_ENGINEHEUR_RESULTS));
static_assert(IsSame(abi::kConfigurationEngine, CUDNN_ATTR_ENGINECFG_ENGINE));
static_assert(IsSame(abi::kPlanConfiguration, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG));
static_assert(IsSame(abi::kForwardWeights, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W));
static_assert(IsSame(abi::kForwardInput, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X));
static_assert(IsSame(abi::kForwardOutput, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y));
static_assert(IsSame(abi::kBackwardDataWeights, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W));
static_assert(IsSame(abi::kBackwardDataInput, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX));
static_assert(IsSame(abi::kBackwardDataOutput, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY));
static_assert(IsSame(abi::kBackwardFilterWeights, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW));
static_assert(IsSame(abi::kBackwardFilterInput, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X));
static_assert(IsSame(abi::kBackwardFilterOutput, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY));
static_assert(IsSame(abi::kGraphOperations, CUDNN_ATTR_OPERATIONGRAPH_OPS));
static_assert(IsSame(abi::kTensorDataType, CUDNN_ATTR_TENSOR_DATA_TYPE));
static_assert(IsSame(abi::kTensorDimensions, CUDNN_ATTR_TENSOR_DIMENSIONS));
static_assert(IsSame(abi::kTensorIsVirtual, CUDNN_ATTR_TENSOR_IS_VIRTUAL));
static_assert(IsSame(abi::kEngineGraph, CUDNN_ATTR_ENGINE_OPERATION_GRAPH));
static_assert(abi::kMostDimensions == CUDNN_DIM_MAX);

int g_wrong = 0;

void Expect(cudnnStatus_t result, cudnnStatus_t expected = CUDNN_STATUS_SUCCESS) {
  g_wrong += result == expected ? 0 : 1;
}

using Sizes = std::vector<std::int64_t>;
using Descriptor = cudnnBackendDescriptor_t;

// Descriptors, gone with it but for those that are kept.
class Builder {
 public:
  ~Builder() {
    for (const Descriptor descriptor : made_) Expect(cudnnBackendDestroyDescriptor(descriptor));
  }

  Descriptor Make(cudnnBackendDescriptorType_t type) {
    Descriptor descriptor = nullptr;
    Expect(cudnnBackendCreateDescriptor(type, &descriptor));
    made_.push_back(descriptor);
    return descriptor;
  }
  static void Name(Descriptor descriptor, cudnnBackendAttributeName_t attribute, Descriptor other) {
    Expect(
        cudnnBackendSetAttribute(descriptor, attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other));
  }
  Descriptor Tensor(const Sizes& sizes) {
    const Descriptor tensor = Make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    const cudnnDataType_t type = CUDNN_DATA_BFLOAT16;
    Expect(cudnnBackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
                                    &type));
    Expect(cudnnBackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64,
                                    static_cast<std::int64_t>(sizes.size()), sizes.data()));
    Expect(cudnnBackendFinalize(tensor));
    return tensor;
  }
  Descriptor Graph(Descriptor operation) {
    Expect(cudnnBackendFinalize(operation));
    const Descriptor graph = Make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    Name(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
    return graph;
  }
  // By the configuration that heuristics recommend.
  Descriptor Plan(Descriptor graph) {
    const Descriptor heuristics = Make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    Name(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    Expect(cudnnBackendFinalize(heuristics));
    Descriptor given[2] = {Make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR),
                           Make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)};
    std::int64_t count = 0;
    Expect(cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, 2, &count, given));
    g_wrong += count == 1 ? 0 : 1;
    const Descriptor plan = Make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    Name(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, given[0]);
    Expect(cudnnBackendFinalize(plan));
    return plan;
  }

 private:
  std::vector<Descriptor> made_;
};

struct Kind {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t input, weights, output;
};
constexpr Kind kKinds[] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY},
};

void RunPlans(cudnnHandle_t handle) {
  for (const Kind& kind : kKinds) {
    Builder builder;
    const Descriptor operation = builder.Make(kind.operation);
    Builder::Name(operation, kind.input, builder.Tensor({32, 3, 224, 224}));
    Builder::Name(operation, kind.weights, builder.Tensor({64, 3, 7, 7}));
    Builder::Name(operation, kind.output, builder.Tensor({32, 64, 112, 112}));
    const Descriptor plan = builder.Plan(builder.Graph(operation));
    Expect(cudnnBackendExecute(handle, plan, nullptr));
    Expect(cudnnBackendExecute(nullptr, plan, nullptr), CUDNN_STATUS_BAD_PARAM);
  }
  Builder builder;
  const Descriptor product = builder.Make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  Expect(cudnnBackendExecute(handle, builder.Plan(builder.Graph(product)), nullptr));
}

cudnnTensorDescriptor_t TensorOf(const std::vector<int>& sizes) {
  cudnnTensorDescriptor_t tensor = nullptr;
  Expect(cudnnCreateTensorDescriptor(&tensor));
  Expect(cudnnSetTensorNdDescriptor(tensor, CUDNN_DATA_FLOAT, static_cast<int>(sizes.size()),
                                    sizes.data(), sizes.data()));
  return tensor;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // they are what older programs call

void RunOlderFunctions(cudnnHandle_t handle) {
  const float one = 1;
  float memory = 0;
  const std::vector<int> sizes = {96, 1, 3, 3};
  cudnnFilterDescriptor_t filter = nullptr;
  Expect(cudnnCreateFilterDescriptor(&filter));
  Expect(cudnnSetFilterNdDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 4, sizes.data()));
  const cudnnTensorDescriptor_t x = TensorOf({8, 96, 56, 56}), y = TensorOf({8, 96, 28, 28});
  Expect(cudnnConvolutionForward(handle, &one, x, &memory, filter, &memory, nullptr,
                                 CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, nullptr, 0, &one, y,
                                 &memory));
  Expect(cudnnConvolutionBiasActivationForward(handle, &one, x, &memory, filter, &memory, nullptr,
                                               CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, nullptr, 0,
                                               &one, y, &memory, y, &memory, nullptr, y, &memory));
  Expect(cudnnConvolutionBackwardData(handle, &one, filter, &memory, y, &memory, nullptr,
                                      CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, nullptr, 0, &one, x,
                                      &memory));
  Expect(cudnnConvolutionBackwardFilter(handle, &one, x, &memory, y, &memory, nullptr,
                                        CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, nullptr, 0, &one,
                                        filter, &memory));
  Expect(cudnnConvolutionForward(nullptr, &one, x, &memory, filter, &memory, nullptr,
                                 CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, nullptr, 0, &one, y,
                                 &memory),
         CUDNN_STATUS_BAD_PARAM);
}

#pragma GCC diagnostic pop

}  // namespace

EXPORT int RunConvolutions() {
  g_wrong = 0;
  cudnnHandle_t handle = nullptr;
  Expect(cudnnCreate(&handle));
  RunPlans(handle);
  RunOlderFunctions(handle);
  return g_wrong;
}
