// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/metrics/gpu/telemetry.h"
#include "schemas/report.pb.h"

namespace traceinject {

// With what the facts of the process tell of the device of this ordinal.
void WriteTelemetry(const Rank& rank, int ordinal, const Telemetry& from, proto::Telemetry& to);

// That there are counters, and how good: of all of the recording.
void WriteCounterSampling(const CounterSamples& from, proto::CounterSampling& to);

// Those in the window; times relative to `origin`.
void WriteDeviceSamples(const DeviceSamples& from, Interval window, TimeNs origin,
                        proto::DeviceReport& to);

}  // namespace traceinject
