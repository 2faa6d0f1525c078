// SPDX-License-Identifier: Apache-2.0
#include "injector/cudnn/convolution_plans.h"

#include <algorithm>
#include <cstring>

namespace traceinject {
namespace {

using namespace cudnn;

constexpr int kMostTries = 10'000;  // for the lock: some tens of microseconds

enum class Role : std::uint8_t { kInput, kWeights, kOutput };
struct OperationAttribute {
  int attribute;
  ConvolutionKind kind;
  Role role;
};
constexpr OperationAttribute kOperationAttributes[] = {
    {kForwardWeights, ConvolutionKind::kForward, Role::kWeights},
    {kForwardInput, ConvolutionKind::kForward, Role::kInput},
    {kForwardOutput, ConvolutionKind::kForward, Role::kOutput},
    {kBackwardDataWeights, ConvolutionKind::kBackwardData, Role::kWeights},
    {kBackwardDataInput, ConvolutionKind::kBackwardData, Role::kInput},
    {kBackwardDataOutput, ConvolutionKind::kBackwardData, Role::kOutput},
    {kBackwardFilterWeights, ConvolutionKind::kBackwardFilter, Role::kWeights},
    {kBackwardFilterInput, ConvolutionKind::kBackwardFilter, Role::kInput},
    {kBackwardFilterOutput, ConvolutionKind::kBackwardFilter, Role::kOutput},
};

const OperationAttribute* FindOperationAttribute(int attribute) {
  for (const OperationAttribute& row : kOperationAttributes) {
    if (row.attribute == attribute) return &row;
  }
  return nullptr;
}

// Attributes of a descriptor that name what it was made from.
bool NamesItsOrigin(int attribute) {
  return attribute == kHeuristicsGraph || attribute == kEngineGraph ||
         attribute == kConfigurationEngine || attribute == kPlanConfiguration;
}

// What stands in a program's array, however it is aligned.
template <typename Value>
Value At(const void* values, std::int64_t index) {
  Value value{};
  std::memcpy(&value, static_cast<const char*>(values) + index * std::int64_t{sizeof value},
              sizeof value);
  return value;
}

}  // namespace

template <typename Work>
bool ConvolutionPlans::WithLock(Work work) noexcept {
  int tries = 0;
  while (lock_.test_and_set(std::memory_order_acquire)) {
    if (++tries == kMostTries) return false;
  }
  try {
    work();
  } catch (...) {
    // Out of memory: it stays unknown.
  }
  lock_.clear(std::memory_order_release);
  return true;
}

template <typename Kind>
Kind* ConvolutionPlans::Find(const void* descriptor) {
  const auto found = nodes_.find(descriptor);
  return found == nodes_.end() ? nullptr : std::get_if<Kind>(&found->second);
}

template <typename Kind>
Kind& ConvolutionPlans::Make(const void* descriptor) {
  if (Kind* known = Find<Kind>(descriptor)) return *known;
  return std::get<Kind>(nodes_.insert_or_assign(descriptor, Kind()).first->second);
}

void ConvolutionPlans::Set(const void* descriptor, int attribute, int type, std::int64_t count,
                           const void* values) noexcept {
  if (values == nullptr || count <= 0) return;
  if (type != kTypeDescriptor) {
    if (attribute == kTensorDataType || attribute == kTensorDimensions ||
        attribute == kTensorIsVirtual)
      WithLock([&] { SetTensor(descriptor, attribute, type, count, values); });
    return;
  }
  if (NamesItsOrigin(attribute)) {
    WithLock([&] { Inherit(At<const void*>(values, 0), descriptor); });
  } else if (attribute == kGraphOperations) {
    WithLock([&] { SetGraph(descriptor, static_cast<const void* const*>(values), count); });
  } else if (FindOperationAttribute(attribute) != nullptr) {
    WithLock([&] { SetOperation(descriptor, attribute, At<const void*>(values, 0)); });
  }
}

void ConvolutionPlans::Get(const void* descriptor, int attribute, int type, std::int64_t count,
                           const void* values) noexcept {
  if (values == nullptr || type != kTypeDescriptor) return;
  if (!NamesItsOrigin(attribute) && attribute != kHeuristicsResults) return;
  WithLock([&] {
    for (std::int64_t i = 0; i < count; ++i) Inherit(descriptor, At<const void*>(values, i));
  });
}

void ConvolutionPlans::Forget(const void* descriptor) noexcept {
  WithLock([&] { nodes_.erase(descriptor); });
}

std::optional<Convolution> ConvolutionPlans::Find(const void* plan) noexcept {
  std::optional<Convolution> found;
  WithLock([&] {
    if (const Convolution* known = Find<Convolution>(plan)) found = *known;
  });
  return found;
}

void ConvolutionPlans::SetTensor(const void* descriptor, int attribute, int type,
                                 std::int64_t count, const void* values) {
  ConvolutionTensor& tensor = Make<ConvolutionTensor>(descriptor);
  if (attribute == kTensorDimensions && type == kTypeInt64) {
    tensor.count = count <= kMostDimensions ? static_cast<int>(count) : 0;
    for (int i = 0; i < tensor.count; ++i) tensor.sizes[i] = At<std::int64_t>(values, i);
  } else if (attribute == kTensorDataType && type == kTypeDataType) {
    tensor.type = CudaTypeOf(At<int>(values, 0));
  } else if (attribute == kTensorIsVirtual && type == kTypeBoolean) {
    tensor.is_virtual = At<char>(values, 0) != 0;
  }
}

void ConvolutionPlans::SetOperation(const void* descriptor, int attribute, const void* tensor) {
  const OperationAttribute& row = *FindOperationAttribute(attribute);
  const ConvolutionTensor* known = Find<ConvolutionTensor>(tensor);
  const ConvolutionTensor named = known == nullptr ? ConvolutionTensor() : *known;
  Operation& operation = Make<Operation>(descriptor);
  operation.kind = row.kind;
  (row.role == Role::kInput     ? operation.input
   : row.role == Role::kWeights ? operation.weights
                                : operation.output) = named;
}

void ConvolutionPlans::SetGraph(const void* descriptor, const void* const* operations,
                                std::int64_t count) {
  nodes_.erase(descriptor);
  const Operation* only = nullptr;
  for (std::int64_t i = 0; i < count; ++i) {
    const Operation* operation = Find<Operation>(operations[i]);
    if (operation == nullptr) continue;
    if (only != nullptr) return;  // several
    only = operation;
  }
  if (only == nullptr) return;
  const auto found = ConvolutionOf(only->kind, only->input, only->weights, only->output);
  if (found) Make<Convolution>(descriptor) = *found;
}

void ConvolutionPlans::Inherit(const void* from, const void* to) {
  const Convolution* known = Find<Convolution>(from);
  if (known == nullptr) {
    nodes_.erase(to);
    return;
  }
  const Convolution found = *known;
  Make<Convolution>(to) = found;
}

}  // namespace traceinject
