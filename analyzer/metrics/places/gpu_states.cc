// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/gpu_states.h"

#include <array>
#include <utility>

namespace traceinject {
namespace {

std::uint8_t StateOf(OpKind kind, KernelClass kernel_class) {
  if (kernel_class == KernelClass::kComm) return kStateCommunication;
  return kind == OpKind::kKernel ? kStateCompute : kStateCopies;
}

void AddStretches(const Intervals& times, std::uint8_t state, std::vector<GpuStretch>& to) {
  for (const Interval& time : times) to.push_back({time, state});
}

}  // namespace

std::string GpuStateName(std::size_t state) {
  static constexpr std::array<const char*, kStateIdle> kBusy = {"compute", "exposed communication",
                                                                "exposed copies", "not recorded"};
  if (state < kStateIdle) return kBusy[state];
  return "idle: " + std::string(IdleCauseName(static_cast<IdleCause>(state - kStateIdle)));
}

std::vector<GpuStretch> GpuStatesIn(const DeviceAnalysis& judged, Interval span) {
  const GpuOps& ops = judged.device->ops;
  std::array<Intervals, kStateIdle> busy;
  for (std::size_t row = 0; row < ops.size() && ops.start[row] < span.end; ++row) {
    const Interval time{std::max(ops.start[row], span.start), std::min(ops.end[row], span.end)};
    if (time.end > time.start) Append(busy[StateOf(ops.kind[row], ops.kernel_class[row])], time);
  }
  busy[kStateUnrecorded] = Subtract(Clip(ops.unrecorded, span), busy[kStateCompute]);
  const Intervals& known = busy[kStateUnrecorded];
  Intervals communication =
      Subtract(Subtract(busy[kStateCommunication], busy[kStateCompute]), known);
  Intervals copies = Subtract(Subtract(busy[kStateCopies], busy[kStateCompute]), known);
  busy[kStateCopies] = Subtract(copies, communication);
  busy[kStateCommunication] = std::move(communication);

  std::vector<GpuStretch> states;
  for (std::uint8_t state = 0; state < kStateIdle; ++state)
    AddStretches(busy[state], state, states);
  for (const IdlePiece& piece :
       ExplainIdle(*judged.rank, *judged.device, judged.timeline, judged.steps, span))
    states.push_back({piece.time, static_cast<std::uint8_t>(
                                      kStateIdle + static_cast<std::size_t>(piece.cause))});
  std::ranges::sort(states, {}, [](const GpuStretch& one) { return one.time.start; });
  return states;
}

}  // namespace traceinject
