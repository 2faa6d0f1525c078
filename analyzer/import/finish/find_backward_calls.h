// SPDX-License-Identifier: Apache-2.0
// The backward calls of scaled_dot_product_attention, of which nobody tells: a hook on each would
// cost the training thread more than all that is told of the forward call.
//
// The autograd engine computes the nodes of a graph in the reverse order of their making. So a
// group of attention kernels of the backward belongs to the latest forward call on that GPU that
// can have a backward and has none yet. A forward kernel of no known call (a compiled region) takes
// part, so that its backward is not taken for another's, and stays unknown.
// Not told apart: two graphs whose backwards run in the order of their forwards (pipelines), where
// a call may get the sizes of the same layer's call for another batch, or of another layer.
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// Adds them to rank.attentions, each from its first launch on, without an end. Leaves a rank alone
// whose recording has them (before version 4). After JoinLaunches.
// O(api + operations + n log n) with n attention calls and kernels.
void FindBackwardCalls(Rank& rank);

}  // namespace traceinject
