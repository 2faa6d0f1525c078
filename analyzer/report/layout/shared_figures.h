// SPDX-License-Identifier: Apache-2.0
// Figures that `analyze gate` judges and that are exported as metrics, too: what each calls them,
// what they mean, and how they are taken out of a message of the report. Which message that is, is
// theirs to say: conditions are about the compared steps of one GPU, metrics about every GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "schemas/report.pb.h"

namespace traceinject {

enum class FigureUnit : std::uint8_t {
  kMs,
  kShare,
  kRatio,
  kBytes,
  kPerSecond,
  kMhz,
  kWatt,
  kCount
};

template <typename Message, typename Value = std::optional<double>>
struct SharedFigure {
  std::string_view key;     // in conditions and comparisons
  std::string_view metric;  // without "traceinject_"; ends in its base unit
  FigureUnit unit;
  std::string_view help;
  Value (*get)(const Message&);  // in the unit, but times in ns; empty: not known
};

// A part of the time: in ns, of which users get that of a mean step (kMs) or the share (kShare).
using TimeFigure = SharedFigure<proto::StepSplit, double>;

namespace shared {

inline double Length(const proto::StepSplit& step) { return static_cast<double>(step.length_ns()); }
inline double Compute(const proto::StepSplit& step) {
  return static_cast<double>(step.compute_ns());
}
inline double ExposedComm(const proto::StepSplit& step) {
  return static_cast<double>(step.exposed_communication_ns());
}
inline double ExposedCopy(const proto::StepSplit& step) {
  return static_cast<double>(step.exposed_copy_ns());
}
inline double Idle(const proto::StepSplit& step) { return static_cast<double>(step.idle_ns()); }
inline double Busy(const proto::StepSplit& step) {
  return Compute(step) + ExposedComm(step) + ExposedCopy(step);
}

inline std::optional<double> If(bool known, double value) {
  return known ? std::optional<double>(value) : std::nullopt;
}

constexpr auto kMs = FigureUnit::kMs;
constexpr auto kShare = FigureUnit::kShare;
constexpr auto kRatio = FigureUnit::kRatio;

inline constexpr TimeFigure kStep = {"step_ms", "step_seconds", kMs,
                                     "mean training step of those that the verdict judges", Length};
inline constexpr TimeFigure kComputeTime = {"compute_ms", "step_compute_seconds", kMs,
                                            "per mean step, compute kernels running", Compute};
inline constexpr TimeFigure kExposedCommTime = {
    "exposed_comm_ms", "step_exposed_communication_seconds", kMs,
    "per mean step, communication running without compute", ExposedComm};
inline constexpr TimeFigure kExposedCopyTime = {"exposed_copy_ms", "step_exposed_copy_seconds", kMs,
                                                "per mean step, copies running without any kernel",
                                                ExposedCopy};
inline constexpr TimeFigure kIdleTime = {"idle_ms", "step_idle_seconds", kMs,
                                         "per mean step, nothing running on the GPU", Idle};

inline constexpr TimeFigure kBusyShare = {"gpu_busy", "gpu_busy_ratio", kShare,
                                          "share of time, anything running on the GPU", Busy};
inline constexpr TimeFigure kComputeShare = {"compute_share", "gpu_compute_ratio", kShare,
                                             "share of time, compute kernels running", Compute};
inline constexpr TimeFigure kExposedCommShare = {
    "exposed_comm_share", "gpu_exposed_communication_ratio", kShare,
    "share of time, communication running without compute", ExposedComm};
inline constexpr TimeFigure kExposedCopyShare = {
    "exposed_copy_share", "gpu_exposed_copy_ratio", kShare,
    "share of time, copies running without any kernel", ExposedCopy};
inline constexpr TimeFigure kIdleShare = {"idle_share", "gpu_idle_ratio", kShare,
                                          "share of time, nothing running on the GPU", Idle};

inline constexpr SharedFigure<proto::Partition> kCommComputeRatio = {
    "comm_compute_ratio", "communication_to_compute_ratio", kRatio,
    "communication time over compute time; includes waiting for other ranks",
    [](const proto::Partition& partition) {
      return If(partition.has_communication_to_compute(), partition.communication_to_compute());
    }};
inline constexpr SharedFigure<proto::Partition> kOverlapShare = {
    "overlap_share", "communication_overlap_ratio", kShare,
    "share of communication time overlapped by compute", [](const proto::Partition& partition) {
      return If(partition.has_overlap_share(), partition.overlap_share());
    }};

inline constexpr SharedFigure<proto::Telemetry> kSmClock = {
    "busy_sm_clock_mhz", "gpu_sm_clock_hertz", FigureUnit::kMhz,
    "mean SM clock while the GPU was busy", [](const proto::Telemetry& telemetry) {
      return If(telemetry.has_busy_sm_clock_mhz(), telemetry.busy_sm_clock_mhz());
    }};
inline constexpr SharedFigure<proto::Telemetry> kThrottledShare = {
    "throttled_share", "gpu_throttled_ratio", kShare,
    "share of busy time with the clock throttled, for any reason",
    [](const proto::Telemetry& telemetry) {
      return If(telemetry.busy_ns() > 0, static_cast<double>(telemetry.throttled_busy_ns()) /
                                             static_cast<double>(telemetry.busy_ns()));
    }};
inline constexpr SharedFigure<proto::Telemetry> kPower = {
    "power_w", "gpu_power_watts", FigureUnit::kWatt, "mean board power",
    [](const proto::Telemetry& telemetry) {
      return If(telemetry.has_power_w(), telemetry.power_w().mean());
    }};

inline constexpr SharedFigure<proto::Mfu> kMfu = {
    "mfu", "mfu_ratio", kShare,
    "model FLOPs utilization of the job; needs --params and --tokens-per-step, or --flops-per-step",
    [](const proto::Mfu& mfu) { return If(mfu.has_mfu_percent(), mfu.mfu_percent() / 100); }};
inline constexpr SharedFigure<proto::MatrixProducts> kHfu = {
    "hfu", "known_flops_ratio", kShare,
    "hardware FLOPs utilization from recorded GEMMs and attention: a lower bound",
    [](const proto::MatrixProducts& products) {
      return If(products.has_peak_share(), products.peak_share());
    }};
inline constexpr SharedFigure<proto::Samples> kSamplesPerSecond = {
    "samples_per_second", "samples_per_second", FigureUnit::kPerSecond,
    "samples from the data loaders; for a run, all processes together",
    [](const proto::Samples& samples) {
      return If(samples.has_per_second(), samples.per_second());
    }};
inline constexpr SharedFigure<proto::DeviceSteps> kGoodput = {
    "goodput", "goodput_ratio", kShare, "share of the recorded time in regular training steps",
    [](const proto::DeviceSteps& steps) {
      return If(steps.has_run_time(), steps.run_time().goodput());
    }};
inline constexpr SharedFigure<proto::Verdict> kSaved = {
    "saved_ms", "verdict_saved_seconds", kMs,
    "time saved per mean step if the cause of the verdict were removed",
    [](const proto::Verdict& verdict) {
      return If(verdict.has_saved_ns(), static_cast<double>(verdict.saved_ns()));
    }};

}  // namespace shared
}  // namespace traceinject
