// SPDX-License-Identifier: Apache-2.0
// Which convolution a plan of cuDNN's backend interface computes.
//
// Programs describe it in descriptors that name each other: tensors, an operation, a graph of
// operations, an engine for it, the engine's configuration, the plan. The library may give engines
// and configurations itself (heuristics). So what is set in a descriptor and what is read from one
// is followed, and the plan's convolution is known when it runs. A graph counts where it has one
// convolution; operations around it, as a bias and an activation, do not matter.
//
// Plans are built once a shape, as a rule, and run often.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <variant>

#include "injector/cudnn/convolution.h"

namespace traceinject {

// Callable from all threads. Whoever does not get the lock soon goes on without: a process forked
// while it is held never gets it. Then, or where memory is short, a convolution stays unknown.
class ConvolutionPlans {
 public:
  // cudnnBackendSetAttribute succeeded. `values`: `count` of them, of `type`.
  void Set(const void* descriptor, int attribute, int type, std::int64_t count,
           const void* values) noexcept;
  // cudnnBackendGetAttribute succeeded. `values`: descriptors, `count` of which were filled in.
  void Get(const void* descriptor, int attribute, int type, std::int64_t count,
           const void* values) noexcept;
  // cudnnBackendDestroyDescriptor.
  void Forget(const void* descriptor) noexcept;
  // Of a plan; empty: it has none, or it is not known. O(1).
  std::optional<Convolution> Find(const void* plan) noexcept;

 private:
  struct Operation {
    ConvolutionKind kind = ConvolutionKind::kForward;
    ConvolutionTensor input, weights, output;
  };
  using Node = std::variant<ConvolutionTensor, Operation, Convolution>;

  // Calls with the lock held; false: it was not to be had.
  template <typename Work>
  bool WithLock(Work work) noexcept;
  template <typename Kind>
  Kind* Find(const void* descriptor);
  template <typename Kind>
  Kind& Make(const void* descriptor);

  void SetTensor(const void* descriptor, int attribute, int type, std::int64_t count,
                 const void* values);
  void SetOperation(const void* descriptor, int attribute, const void* tensor);
  void SetGraph(const void* descriptor, const void* const* operations, std::int64_t count);
  void Inherit(const void* from, const void* to);

  std::atomic_flag lock_;
  std::unordered_map<const void*, Node> nodes_;
};

}  // namespace traceinject
