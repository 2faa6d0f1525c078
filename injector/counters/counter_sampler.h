// SPDX-License-Identifier: Apache-2.0
// Samples of the GPUs' hardware counters, on a thread of its own: of each device that the process
// works on, unless another process samples it (device_claim.h), by CUPTI's PM sampling with the
// richest set of counters that the chip takes (counter_sets.h, set_trial.h), or, where that is not
// to be had, by NVML (gpm_session.h). Why it is not goes into health, in the words of
// machine/counter_reasons.h; the program notices none of it.
//
// The writer starts it when the file is there, fetches what it took at each flush, and stops it
// before the last one. As with telemetry/sampler.h a driver that never answers holds the thread for
// ever, and one whose thread could not be stopped must never be destroyed.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "injector/base/environment_copy.h"
#include "injector/base/wake.h"
#include "injector/counters/burst_plan.h"
#include "injector/counters/device_claim.h"
#include "injector/counters/gpm_session.h"
#include "injector/counters/pm_session.h"
#include "injector/counters/sample_rows.h"
#include "injector/counters/set_trial.h"
#include "injector/cupti/library.h"
#include "injector/options/options.h"
#include "injector/rows/rows.h"
#include "machine/counter_reasons.h"
#include "machine/nvml_devices.h"

namespace traceinject {

struct TakenCounters {
  std::vector<CounterSetRow> sets;
  std::vector<CounterRow> counters;
  std::vector<CounterSampleRow> samples;
};

class CounterSampler {
 public:
  // All but `devices` outlive this; `cupti` may be null.
  CounterSampler(const Options& options, const EnvironmentCopy& environment, std::int64_t base_ns,
                 std::vector<DeviceRow> devices, const CuptiLibrary* cupti);
  CounterSampler(const CounterSampler&) = delete;
  CounterSampler& operator=(const CounterSampler&) = delete;

  // False: there is no thread.
  bool Start();
  // The process works on this device. Any thread, cheap when repeated.
  void UseDevice(int device);
  // Whether samples are wanted (Source::kCounters) has changed.
  void Notice() { wake_.Post(); }
  TakenCounters Take();
  // Ends the thread after a last look. It waits for a fifth of a second at most. Later calls do
  // nothing.
  void Stop() noexcept;
  // Why devices are not sampled, or not by CUPTI; empty: all are.
  std::string reasons();
  // What came of the trials that did not pass, and the names of the sets' counters.
  std::string failed_trials();

 private:
  enum class State { kNew, kElsewhere, kPmSampling, kGpm, kOff };
  struct Device {
    DeviceRow row;
    State state = State::kNew;
    std::int64_t retry_ns = 0;  // monotonic
    std::int64_t next_gpm_ns = 0;
    std::string chip;
    DeviceClaim claim;
    std::unique_ptr<PmSession> pm;
    std::optional<BurstPlan> bursts;  // nothing: all the time
    std::unique_ptr<GpmSession> gpm;
    std::vector<CounterId> counters;  // of CUPTI's samples
    // On the recording's clock, before sampling was begun. Nothing: it was begun in place of one
    // that ran over, and what lies between is missing.
    std::optional<std::int64_t> started;
    std::int64_t since_start = 0;   // samples told since, with the one that is left out
    std::int64_t last_end_gpu = 0;  // of the last sample; 0: none since then
    ClockGuess clock;
    std::unique_ptr<SampleRows> rows;  // under mutex_
  };

  static void* RunThread(void* sampler);
  static void StopAtExit() noexcept;
  static void BeforeFinalize() noexcept;

  void Run();
  void AddDevices();
  void Step(Device& device, std::int64_t now);
  void Open(Device& device, std::int64_t now);
  void OpenPmSampling(Device& device);
  std::optional<CounterReason> WhyNotPmSampling(const Device& device) const;
  // What becomes of a device with a set of counters: it has them, the next set is worth a look, or
  // none is.
  enum class Found { kSampled, kNext, kNone };
  Found OpenSet(Device& device, const CounterSet& set);
  Found TryAndOpen(Device& device, const CounterSet& set, bool* untried);
  void NoteFailedTrial(const CounterSet& set, const TrialResult& result);
  void OpenGpm(Device& device, const std::string& reason);
  void StepPmSampling(Device& device, std::int64_t now);
  void SpendOnBursts(Device& device);
  bool Begin(Device& device, PmFailure* failure);
  bool End(Device& device, std::int64_t now, PmFailure* failure);
  bool Decode(Device& device);
  void AddSamples(Device& device, const PmSamples& samples);
  void StepGpm(Device& device, std::int64_t now);
  void KeepRows(Device& device);
  void CloseAll();
  std::int64_t WaitNs(std::int64_t now) const;
  std::string DriverVersion();
  void OpenNvmlOnce();
  void AddSet(Device& device, std::string_view source, std::string_view name,
              const std::vector<CounterRow>& counters, std::int64_t period_ns);
  void Refuse(Device& device, const std::string& reason, bool quietly = false);
  std::int64_t Now() const;

  const Options& options_;
  const EnvironmentCopy& environment_;
  const std::int64_t base_ns_, period_ns_;
  const std::vector<DeviceRow> seen_;
  const CuptiLibrary* cupti_;
  pthread_t thread_{};
  pid_t owner_ = 0;
  Wake wake_;
  std::atomic<bool> stop_{false}, stopped_{false}, finalized_{false};

  std::timed_mutex cupti_mutex_;  // held in calls into CUPTI; before mutex_, where both are

  std::mutex mutex_;  // of what follows; never held in a call of anybody else's
  std::set<int> used_;
  TakenCounters taken_;
  std::uint32_t last_set_ = 0;
  std::map<int, std::string> reasons_;
  std::string failed_trials_;

  // The thread's own.
  std::optional<PmLibrary> pm_;
  std::optional<NvmlLibrary> nvml_;
  std::unique_ptr<NvmlDevices> nvml_devices_;
  bool nvml_tried_ = false, at_exit_ = false;
  std::minstd_rand random_;
  std::int64_t spent_ns_ = 0, spent_until_ns_ = 0;  // of the thread's CPU time
  std::map<int, std::unique_ptr<Device>> devices_;
};

}  // namespace traceinject
