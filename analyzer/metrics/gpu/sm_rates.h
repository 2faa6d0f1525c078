// SPDX-License-Identifier: Apache-2.0
// What a multiprocessor (SM) computes in a clock, and the clock that published rates rest on.
#pragma once

#include <optional>
#include <string_view>

#include "analyzer/metrics/gpu/gpu_specs.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Dense floating-point operations of an SM in one clock. Empty: there is no such rate, or the
// compute capability is not in the table. GeForce cards have half the matrix units of others.
// Source: NVIDIA's architecture whitepapers, checked against the published rates of the cards.
std::optional<double> FlopsPerSmClock(int cc_major, int cc_minor, bool is_geforce, PeakDtype dtype);

// The clock at which the device reaches the published rate, in MHz: cards may run above it, or
// below it for want of power. Empty: something of that is not known, or the published rate is not
// that of its SMs (cards limited for export).
std::optional<double> RatedSmClockMhz(const Device& device, PeakDtype dtype);

}  // namespace traceinject
