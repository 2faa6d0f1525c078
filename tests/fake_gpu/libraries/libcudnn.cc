// SPDX-License-Identifier: Apache-2.0
// libcudnn.so: descriptors hold what programs set in them. A convolution is a change of the layout
// and the kernel that computes it, as fast as a plain one of an H100.
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "tests/fake_gpu/libraries/cublas_api.h"
#include "tests/fake_gpu/simulator/program.h"

extern "C" int cublasLtCreate(void** handle);
extern "C" int cublasLtMatmul(void* handle, traceinject::fake::LtOperation* operation, const void*,
                              const void*, traceinject::fake::LtLayout* a, const void*,
                              traceinject::fake::LtLayout* b, const void*, const void*,
                              traceinject::fake::LtLayout* c, void*, traceinject::fake::LtLayout* d,
                              const void*, void*, std::size_t, void* stream);

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace fake = traceinject::fake;

namespace {

constexpr int kBadParameter = 2000, kExecutionFailed = 5000;  // cudnnStatus_t
// cudnnBackendAttributeName_t, cudnnBackendAttributeType_t, cudnnBackendDescriptorType_t
constexpr int kHeuristicsGraph = 201, kHeuristicsResults = 202, kConfigurationEngine = 300,
              kPlanConfiguration = 401, kGraphOperations = 801, kEngineGraph = 1300;
constexpr int kDescriptor = 15;
constexpr int kEngine = 2, kForward = 10, kBackwardFilter = 11, kBackwardData = 12, kMatmul = 19;

char g_context = 0;  // what handles point to

struct Descriptor {
  int type = 0;
  std::map<int, std::vector<char>> values;  // by attribute

  Descriptor* Named(int attribute) const {
    const auto found = values.find(attribute);
    Descriptor* named = nullptr;
    if (found != values.end() && found->second.size() >= sizeof named)
      std::memcpy(&named, found->second.data(), sizeof named);
    return named;
  }
  void Name(int attribute, const Descriptor* other) {
    values[attribute].resize(sizeof other);
    std::memcpy(values[attribute].data(), &other, sizeof other);
  }
};

struct Sizes {  // of the older functions
  int type = 0;
  std::vector<int> sizes;
};

std::size_t BytesOf(int type) {
  switch (type) {
    case 2:  // CUDNN_TYPE_BOOLEAN
      return 1;
    case 3:  // CUDNN_TYPE_INT64
    case 0:  // CUDNN_TYPE_HANDLE
    case 6:  // CUDNN_TYPE_VOID_PTR
    case kDescriptor:
      return 8;
    default:
      return 4;
  }
}

#define KERNEL(direction)                                                                   \
  "sm90_xmma_" direction                                                                    \
  "_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_warpgroupsize1x1x1" \
  "_g1_execute_segment_k_off_kernel__5x_cudnn"
constexpr const char *kForwardKernel = KERNEL("fprop"), *kDataKernel = KERNEL("dgrad"),
                     *kFilterKernel = KERNEL("wgrad");

int Launch(const char* name) {
  fake::KernelCode layout;
  layout.name = "void cudnn::engines_precompiled::nchwToNhwcKernel<__nv_bfloat16, __nv_bfloat16>";
  layout.duration_ns = 5'000;
  fake::KernelCode kernel;
  kernel.name = name;
  kernel.duration_ns = 50'000;
  for (const fake::KernelCode& each : {layout, kernel}) {
    if (cudaLaunchKernel(&each, {8, 1, 1}, {128, 1, 1}, nullptr, 0, nullptr) != cudaSuccess)
      return kExecutionFailed;
  }
  return 0;
}

// Left to cuBLASLt.
int Multiply() {
  void* light = nullptr;
  fake::LtOperation operation;
  fake::LtLayout matrix{CUDA_R_16BF, 64, 64};
  return cublasLtCreate(&light) == 0 &&
                 cublasLtMatmul(light, &operation, nullptr, nullptr, &matrix, nullptr, &matrix,
                                nullptr, nullptr, &matrix, nullptr, &matrix, nullptr, nullptr, 0,
                                nullptr) == 0
             ? 0
             : kExecutionFailed;
}

}  // namespace

EXPORT int cudnnCreate(void** handle) { return *handle = &g_context, 0; }

EXPORT int cudnnBackendCreateDescriptor(int type, Descriptor** descriptor) {
  *descriptor = new Descriptor{type, {}};
  return 0;
}

EXPORT int cudnnBackendDestroyDescriptor(Descriptor* descriptor) {
  delete descriptor;
  return 0;
}

EXPORT int cudnnBackendFinalize(Descriptor*) { return 0; }

EXPORT int cudnnBackendSetAttribute(Descriptor* descriptor, int attribute, int type,
                                    std::int64_t count, const void* values) {
  if (count < 1 || values == nullptr) return kBadParameter;
  const auto* bytes = static_cast<const char*>(values);
  descriptor->values[attribute].assign(bytes, bytes + count * std::int64_t(BytesOf(type)));
  return 0;
}

// Heuristics give one configuration.
EXPORT int cudnnBackendGetAttribute(Descriptor* descriptor, int attribute, int type,
                                    std::int64_t requested, std::int64_t* count,
                                    Descriptor** values) {
  if (type != kDescriptor || requested < 1) return kBadParameter;
  *count = 1;
  if (attribute == kHeuristicsResults) {
    auto* engine = new Descriptor{kEngine, {}};  // the configuration's, and as long as the program
    engine->Name(kEngineGraph, descriptor->Named(kHeuristicsGraph));
    values[0]->Name(kConfigurationEngine, engine);
    return 0;
  }
  const Descriptor* named = descriptor->Named(attribute);
  if (named == nullptr) return kBadParameter;
  values[0]->values = named->values;
  return 0;
}

EXPORT int cudnnBackendExecute(void* handle, Descriptor* plan, Descriptor*) {
  if (handle != &g_context) return kBadParameter;
  const Descriptor* at = plan;
  for (const int attribute :
       {kPlanConfiguration, kConfigurationEngine, kEngineGraph, kGraphOperations}) {
    at = at == nullptr ? nullptr : at->Named(attribute);
  }
  switch (at == nullptr ? 0 : at->type) {
    case kMatmul:
      return Multiply();
    case kForward:
      return Launch(kForwardKernel);
    case kBackwardData:
      return Launch(kDataKernel);
    case kBackwardFilter:
      return Launch(kFilterKernel);
    default:
      return kBadParameter;
  }
}

EXPORT int cudnnCreateTensorDescriptor(Sizes** of) { return *of = new Sizes, 0; }
EXPORT int cudnnCreateFilterDescriptor(Sizes** of) { return *of = new Sizes, 0; }

EXPORT int cudnnSetTensorNdDescriptor(Sizes* of, int type, int count, const int* sizes,
                                      const int*) {
  *of = {type, {sizes, sizes + count}};
  return 0;
}
EXPORT int cudnnSetFilterNdDescriptor(Sizes* of, int type, int, int count, const int* sizes) {
  *of = {type, {sizes, sizes + count}};
  return 0;
}

EXPORT int cudnnGetTensorNdDescriptor(const Sizes* of, int requested, int* type, int* count,
                                      int* sizes, int* strides) {
  *type = of->type;
  *count = static_cast<int>(of->sizes.size());
  for (int i = 0; i < requested && i < *count; ++i) sizes[i] = of->sizes[i], strides[i] = 1;
  return 0;
}
EXPORT int cudnnGetFilterNdDescriptor(const Sizes* of, int requested, int* type, int* format,
                                      int* count, int* sizes) {
  int strides[8];
  *format = 0;
  return cudnnGetTensorNdDescriptor(of, requested, type, count, sizes, strides);
}

EXPORT int cudnnConvolutionForward(void* handle, const void*, Sizes*, const void*, Sizes*,
                                   const void*, void*, int, void*, std::size_t, const void*, Sizes*,
                                   void*) {
  return handle == &g_context ? Launch(kForwardKernel) : kBadParameter;
}

EXPORT int cudnnConvolutionBiasActivationForward(void* handle, const void*, Sizes*, const void*,
                                                 Sizes*, const void*, void*, int, void*,
                                                 std::size_t, const void*, Sizes*, const void*,
                                                 Sizes*, const void*, void*, Sizes*, void*) {
  return handle == &g_context ? Launch(kForwardKernel) : kBadParameter;
}

EXPORT int cudnnConvolutionBackwardData(void* handle, const void*, Sizes*, const void*, Sizes*,
                                        const void*, void*, int, void*, std::size_t, const void*,
                                        Sizes*, void*) {
  return handle == &g_context ? Launch(kDataKernel) : kBadParameter;
}

EXPORT int cudnnConvolutionBackwardFilter(void* handle, const void*, Sizes*, const void*, Sizes*,
                                          const void*, void*, int, void*, std::size_t, const void*,
                                          Sizes*, void*) {
  return handle == &g_context ? Launch(kFilterKernel) : kBadParameter;
}
