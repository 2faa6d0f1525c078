// SPDX-License-Identifier: Apache-2.0
// Wrappers of the convolutions of cuDNN, of the older functions and of plans of the backend
// interface, exported so that the dynamic linker binds the program's calls to them. As those of
// cuBLAS (cublas.cc): they note shape, types, thread and time. A wrapper forwards the call whatever
// happens.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>

#include "injector/base/exported.h"
#include "injector/base/real_function.h"
#include "injector/base/sources.h"
#include "injector/base/state.h"
#include "injector/cudnn/convolution.h"
#include "injector/cudnn/convolution_plans.h"
#include "injector/cudnn/cudnn_abi.h"
#include "injector/wrappers/product_call.h"

namespace traceinject {
namespace {

// Of this process. Programs destroy their plans late, when our static objects may be gone: it
// stays.
ConvolutionPlans& Plans() {
  alignas(ConvolutionPlans) static std::byte room[sizeof(ConvolutionPlans)];
  static auto* plans = new (room) ConvolutionPlans;
  return *plans;
}

bool FollowsPlans() { return Recording() && Delivers(Source::kGemm); }

void Emit(const ProductEmitter& emit, const char* function,
          const std::optional<Convolution>& convolution) {
  if (!convolution) return;
  emit({function, convolution->m, convolution->n, convolution->k, convolution->groups, 0, 0,
        convolution->type_a, convolution->type_b, convolution->type_c, kUnknownType,
        convolution->least_bytes});
}

const char* PlanFunction(ConvolutionKind kind) {
  switch (kind) {
    case ConvolutionKind::kForward:
      return "cudnnBackendExecute (forward)";
    case ConvolutionKind::kBackwardData:
      return "cudnnBackendExecute (backward data)";
    case ConvolutionKind::kBackwardFilter:
      return "cudnnBackendExecute (backward filter)";
  }
  return "";
}

// Reads what the program set in descriptors of the older functions, by the library that made them.
class ConvolutionDescriptors {
 public:
  // `caller` as RealFunction wants it.
  explicit ConvolutionDescriptors(const void* caller)
      : tensor_(g_tensor.Get(cudnn::kLibrary, "cudnnGetTensorNdDescriptor", caller)),
        filter_(g_filter.Get(cudnn::kLibrary, "cudnnGetFilterNdDescriptor", caller)) {}

  ConvolutionTensor Tensor(void* descriptor) const {
    int sizes[cudnn::kMostDimensions] = {}, strides[cudnn::kMostDimensions] = {}, type = -1,
        count = 0;
    if (tensor_ == nullptr || descriptor == nullptr ||
        tensor_(descriptor, cudnn::kMostDimensions, &type, &count, sizes, strides) != 0)
      return {};
    return Of(type, count, sizes);
  }
  ConvolutionTensor Filter(void* descriptor) const {
    int sizes[cudnn::kMostDimensions] = {}, type = -1, format = 0, count = 0;
    if (filter_ == nullptr || descriptor == nullptr ||
        filter_(descriptor, cudnn::kMostDimensions, &type, &format, &count, sizes) != 0)
      return {};
    return Of(type, count, sizes);
  }

 private:
  using GetTensor = int(void*, int, int*, int*, int*, int*);
  using GetFilter = int(void*, int, int*, int*, int*, int*);

  static ConvolutionTensor Of(int type, int count, const int* sizes) {
    ConvolutionTensor tensor;
    if (count < 0 || count > cudnn::kMostDimensions) return tensor;
    tensor.count = count;
    for (int i = 0; i < count; ++i) tensor.sizes[i] = sizes[i];
    tensor.type = CudaTypeOf(type);
    return tensor;
  }

  static constinit inline RealFunction<GetTensor> g_tensor;
  static constinit inline RealFunction<GetFilter> g_filter;
  GetTensor* tensor_;
  GetFilter* filter_;
};

std::optional<Convolution> DescribeConvolution(ConvolutionKind kind, void* input, void* weights,
                                               void* output, const void* caller) {
  const ConvolutionDescriptors of(caller);
  return ConvolutionOf(kind, of.Tensor(input), of.Filter(weights), of.Tensor(output));
}

}  // namespace
}  // namespace traceinject

// As a wrapper of cublas.cc: `kind`, and which of the arguments are its input, weights and output.
#define TRACEINJECT_CONVOLUTION(name, parameters, arguments, kind, input, weights, output)       \
  extern "C" TRACEINJECT_EXPORT int name parameters {                                            \
    static constinit traceinject::RealFunction<int parameters> real;                             \
    const void* caller = TRACEINJECT_CALLER;                                                     \
    auto* function = real.Get(traceinject::cudnn::kLibrary, #name, caller);                      \
    if (function == nullptr) return traceinject::cudnn::kNotInitialized;                         \
    return traceinject::WithProduct(                                                             \
        [&](const traceinject::ProductEmitter& emit) {                                           \
          traceinject::Emit(emit, #name,                                                         \
                            traceinject::DescribeConvolution(traceinject::ConvolutionKind::kind, \
                                                             input, weights, output, caller));   \
        },                                                                                       \
        [&] { return function arguments; });                                                     \
  }

TRACEINJECT_CONVOLUTION(cudnnConvolutionForward,
                        (void* handle, const void* alpha, void* x_of, const void* x, void* w_of,
                         const void* w, void* convolution, int algorithm, void* workspace,
                         std::size_t workspace_bytes, const void* beta, void* y_of, void* y),
                        (handle, alpha, x_of, x, w_of, w, convolution, algorithm, workspace,
                         workspace_bytes, beta, y_of, y),
                        kForward, x_of, w_of, y_of)
TRACEINJECT_CONVOLUTION(cudnnConvolutionBiasActivationForward,
                        (void* handle, const void* alpha1, void* x_of, const void* x, void* w_of,
                         const void* w, void* convolution, int algorithm, void* workspace,
                         std::size_t workspace_bytes, const void* alpha2, void* z_of, const void* z,
                         void* bias_of, const void* bias, void* activation, void* y_of, void* y),
                        (handle, alpha1, x_of, x, w_of, w, convolution, algorithm, workspace,
                         workspace_bytes, alpha2, z_of, z, bias_of, bias, activation, y_of, y),
                        kForward, x_of, w_of, y_of)
TRACEINJECT_CONVOLUTION(cudnnConvolutionBackwardData,
                        (void* handle, const void* alpha, void* w_of, const void* w, void* dy_of,
                         const void* dy, void* convolution, int algorithm, void* workspace,
                         std::size_t workspace_bytes, const void* beta, void* dx_of, void* dx),
                        (handle, alpha, w_of, w, dy_of, dy, convolution, algorithm, workspace,
                         workspace_bytes, beta, dx_of, dx),
                        kBackwardData, dx_of, w_of, dy_of)
TRACEINJECT_CONVOLUTION(cudnnConvolutionBackwardFilter,
                        (void* handle, const void* alpha, void* x_of, const void* x, void* dy_of,
                         const void* dy, void* convolution, int algorithm, void* workspace,
                         std::size_t workspace_bytes, const void* beta, void* dw_of, void* dw),
                        (handle, alpha, x_of, x, dy_of, dy, convolution, algorithm, workspace,
                         workspace_bytes, beta, dw_of, dw),
                        kBackwardFilter, x_of, dw_of, dy_of)

// One of the backend interface: its exported name, the parameters, the arguments, and what is done
// once it succeeded.
#define TRACEINJECT_BACKEND(name, parameters, arguments, ...)                               \
  extern "C" TRACEINJECT_EXPORT int name parameters {                                       \
    static constinit traceinject::RealFunction<int parameters> real;                        \
    auto* function = real.Get(traceinject::cudnn::kLibrary, #name, TRACEINJECT_CALLER);     \
    if (function == nullptr) return traceinject::cudnn::kNotInitialized;                    \
    const int result = function arguments;                                                  \
    if (result == traceinject::cudnn::kSuccess && traceinject::FollowsPlans()) __VA_ARGS__; \
    return result;                                                                          \
  }

TRACEINJECT_BACKEND(cudnnBackendSetAttribute,
                    (void* descriptor, int attribute, int type, std::int64_t count,
                     const void* values),
                    (descriptor, attribute, type, count, values),
                    traceinject::Plans().Set(descriptor, attribute, type, count, values))
TRACEINJECT_BACKEND(cudnnBackendGetAttribute,
                    (void* descriptor, int attribute, int type, std::int64_t requested,
                     std::int64_t* count, void* values),
                    (descriptor, attribute, type, requested, count, values),
                    traceinject::Plans().Get(descriptor, attribute, type,
                                             count == nullptr ? 0 : std::min(*count, requested),
                                             values))
TRACEINJECT_BACKEND(cudnnBackendDestroyDescriptor, (void* descriptor), (descriptor),
                    traceinject::Plans().Forget(descriptor))

extern "C" TRACEINJECT_EXPORT int cudnnBackendExecute(void* handle, void* plan, void* values) {
  static constinit traceinject::RealFunction<int(void*, void*, void*)> real;
  auto* function =
      real.Get(traceinject::cudnn::kLibrary, "cudnnBackendExecute", TRACEINJECT_CALLER);
  if (function == nullptr) return traceinject::cudnn::kNotInitialized;
  const std::optional<traceinject::Convolution> convolution =
      traceinject::FollowsPlans() ? traceinject::Plans().Find(plan) : std::nullopt;
  // What it asks of cuBLAS counts by itself then.
  if (!convolution) return function(handle, plan, values);
  return traceinject::WithProduct(
      [&](const traceinject::ProductEmitter& emit) {
        traceinject::Emit(emit, traceinject::PlanFunction(convolution->kind), convolution);
      },
      [&] { return function(handle, plan, values); });
}
