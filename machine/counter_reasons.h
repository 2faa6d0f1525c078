// SPDX-License-Identifier: Apache-2.0
// Why hardware counters are not sampled, and what to do: the recorder says it in a recording's
// health, `analyze doctor` without a run.
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

enum class CounterReason {
  kOldCupti,
  kOldGpu,
  kUnknownChip,
  kNoPermission,
  kBusy,
  kMig,
  kVirtualGpu,
  kConfidential,
  kUnsupported,
  kNoSet,
  kUntried,
  kElsewhere,
  kDetach,
  kFinalized,
  kFailed,
  kCount
};

struct CounterReasonText {
  CounterReason reason;
  std::string_view sentence;  // what is the case
  std::string_view change;    // what to do; empty: nothing
};

// By CounterReason.
inline constexpr CounterReasonText kCounterReasons[] = {
    {CounterReason::kOldCupti, "this CUPTI cannot sample counters (it is older than CUDA 12.6)",
     "run with CUPTI of CUDA 12.6 or later"},
    {CounterReason::kOldGpu,
     "counters of this GPU cannot be sampled: its compute capability is below 7.5",
     "use a Turing GPU or later"},
    {CounterReason::kUnknownChip, "no set of counters is known for this chip",
     "update traceinject, or CUPTI where it does not know the chip"},
    {CounterReason::kNoPermission, "this user may not read performance counters",
     "as root, load the driver with NVreg_RestrictProfilingToAdminUsers=0 (a line `options nvidia "
     "NVreg_RestrictProfilingToAdminUsers=0` in /etc/modprobe.d, then reboot), or run as root or "
     "with CAP_SYS_ADMIN (docker run --cap-add SYS_ADMIN)"},
    {CounterReason::kBusy, "another profiler holds the GPU's performance counters",
     "end Nsight or ncu on this GPU; if DCGM profiles it, `dcgmi profstat --pause` for the time of "
     "the run, or leave DCGM_FI_PROF metrics out of dcgm-exporter"},
    {CounterReason::kMig, "the GPU is divided by MIG, where counters cannot be sampled",
     "switch MIG off: `nvidia-smi -mig 0`"},
    {CounterReason::kVirtualGpu, "this is a virtual GPU for which profiling is not enabled",
     "let the host's administrator enable profiling for this vGPU "
     "(pciPassthru0.cfg.enable_profiling=1 or its equivalent)"},
    {CounterReason::kConfidential, "the GPU is in confidential-computing mode",
     "counters need that mode off, or its developer setting"},
    {CounterReason::kUnsupported, "CUPTI does not support sampling counters on this GPU",
     "use a CUPTI and a driver of the same CUDA version"},
    {CounterReason::kNoSet, "no set of counters for this chip passed its trial", ""},
    {CounterReason::kUntried,
     "no set of counters could be tried in a process of its own, without which none is used",
     "look whether processes can be started, and the library's file be read"},
    {CounterReason::kElsewhere, "another recorded process samples the counters of this GPU", ""},
    {CounterReason::kDetach, "counters are not sampled together with TRACEINJECT_DETACH=1",
     "unset one of the two"},
    {CounterReason::kFinalized, "another client took CUPTI out of the process (cuptiFinalize)",
     "unset TEARDOWN_CUPTI"},
    {CounterReason::kFailed, "a call for counters failed", ""},
};
static_assert(sizeof kCounterReasons / sizeof *kCounterReasons ==
              static_cast<std::size_t>(CounterReason::kCount));

constexpr const CounterReasonText& TextOf(CounterReason reason) {
  return kCounterReasons[static_cast<std::size_t>(reason)];
}

// Both parts; `detail` is said in between.
inline std::string Explain(CounterReason reason, std::string_view detail = {}) {
  const CounterReasonText& text = TextOf(reason);
  std::string sentence(text.sentence);
  if (!detail.empty()) sentence.append(" (").append(detail).append(")");
  if (!text.change.empty()) sentence.append("; ").append(text.change);
  return sentence;
}

}  // namespace traceinject
