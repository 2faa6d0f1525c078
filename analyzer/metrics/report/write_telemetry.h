// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "analyzer/metrics/counters/kernel_counters.h"
#include "analyzer/metrics/gpu/telemetry.h"
#include "analyzer/metrics/kernels/measured_hfu.h"
#include "schemas/report.pb.h"

namespace traceinject {

// With what the facts of the process tell of the device of this ordinal.
void WriteTelemetry(const Rank& rank, int ordinal, const Telemetry& from, proto::Telemetry& to);

// That there are counters, and how good: of all of the recording.
void WriteCounterSampling(const CounterSamples& from, proto::CounterSampling& to);

// What they show over the judged steps, which take `times_ns`.
void WriteMeasuredUse(const DeviceCounters& from, TimeNs times_ns,
                      const std::optional<MeasuredHfu>& hfu, proto::MeasuredUse& to);
// And of a kernel.
void WriteKernelCounters(const KernelCounters& from, proto::KernelCounters& to);

// Those in the window; times relative to `origin`.
void WriteDeviceSamples(const DeviceSamples& from, Interval window, TimeNs origin,
                        proto::DeviceReport& to);

}  // namespace traceinject
