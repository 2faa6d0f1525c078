// SPDX-License-Identifier: Apache-2.0
// What kernels had to do, as far as the calls tell that launched them: operations and bytes of
// GEMMs and attention calls, and how long that takes at the published rates of the GPU.
//
// The work of a call belongs to the one kernel of it that computes: others that only prepare or
// finish (IsHelperKernel, kernels of another class) have none. If several different kernels
// compute, nobody knows which did what, and it is unknown.
//
// Work is what is needed, not what a kernel does: bytes are those of the matrices, each once.
// Attention: 2 products of the lengths forward, 5 backward; with a causal mask over as many keys as
// queries, of the pairs that it leaves. (AttentionFlops, for whole steps, counts the full square
// instead, as is the custom.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "analyzer/metrics/gpu/gpu_specs.h"
#include "analyzer/metrics/steps/window.h"
#include "analyzer/model/calls/library_calls.h"
#include "analyzer/model/kernel_traits.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Sums over the kernels of one name whose work is known. Times are those that the work would take;
// an empty sum: it is not known of some of them.
struct KernelWork {
  std::int64_t kernels = 0;
  TimeNs known_ns = 0;  // they took
  double flops = 0;
  std::optional<double> bytes = 0;
  std::optional<double> peak_ns = 0;     // operations at the dense peak of their type
  std::optional<double> reached_ns = 0;  // at what good products reach of it
  std::optional<double> memory_ns = 0;   // bytes at the published bandwidth
  std::optional<double> ideal_ns = 0;    // the larger of operations and bytes, each at what good
                                         // kernels reach, of each call
  std::optional<double> above_ideal_ns = 0;  // what calls took longer than that
  std::string dtype;                         // of all calls; empty: not reported, or they differ
  bool tf32_allowed = false;                 // a call let cuBLAS compute fp32 in TF32

  KernelWork& operator+=(const KernelWork& other);

  std::optional<double> tflops_per_s() const;  // empty: no measurable time
  // Of the published dense peak, and of what good products reach. Empty: a rate is not known, or it
  // would be more than 100 % of the peak, which is impossible.
  std::optional<double> peak_share() const;
  std::optional<double> reached_share() const;
  std::string refusal() const;              // why there is no share; empty: there is
  std::optional<double> intensity() const;  // operations a byte
  // Above the ridge of the GPU's roofline (dense peak / memory bandwidth). Empty: unknown.
  std::optional<bool> compute_bound() const;
  // Empty too where the share of the peak is refused.
  std::optional<double> time_above_ideal_ns() const;
};

using KernelWorks =
    std::unordered_map<std::uint32_t, KernelWork>;  // by name, index of Rank::strings

// What one product of the shape asks for of a kernel with these traits, which took no time here.
// `spec`: null for an unknown GPU.
KernelWork WorkOfProduct(const Rank& rank, const GpuSpec* spec, const GemmShape& shape,
                         const KernelTraits& traits);

// The same of a recorded call: of the row of Rank::gemms, with the others of a grouped call whose
// last one it is, and of the row of Rank::attentions. No FLOPs: they are not known.
KernelWork WorkOfProductCall(const Rank& rank, const GpuSpec* spec, std::uint32_t call,
                             const KernelTraits& traits);
KernelWork WorkOfAttentionCall(const Rank& rank, const GpuSpec* spec, std::uint32_t call,
                               const KernelTraits& traits);

// Of the kernels in the ranges. O(calls + operations log operations).
KernelWorks MeasureKernelWork(const Rank& rank, const Device& device, const LibraryCalls& calls,
                              const OpRanges& ranges);

}  // namespace traceinject
