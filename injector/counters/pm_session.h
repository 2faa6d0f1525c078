// SPDX-License-Identifier: Apache-2.0
// PM sampling of one device by one set of metrics: configured once, then started and stopped as
// often as wanted. One thread at a time. Used in the program's process, and before that in a
// process of its own (set_trial.h), since a set that the hardware does not take may crash CUPTI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "injector/counters/counter_sets.h"
#include "injector/counters/pm_library.h"
#include "machine/counter_reasons.h"

namespace traceinject {

// A call that failed.
struct PmFailure {
  const char* function = nullptr;  // null: none did
  pm::Result result = pm::kSuccess;
  CounterReason Reason() const;
  std::string Text(const PmLibrary& library) const;  // "cuptiPmSamplingEnable: CUPTI_ERROR_..."
};

// By the GPU's clock, in ns; values in the metrics' own unit, in the order of the set.
struct PmSamples {
  std::vector<std::uint64_t> start, end;
  std::vector<double> values;  // of all counters of a sample together
  bool overflow = false;       // some were lost
  // All of them had ended by then, by the recording's kind of clock (base/clock.h): evaluating them
  // comes after it, and takes its time.
  std::int64_t read_ns = 0;
  std::size_t size() const { return start.size(); }
};

// Name of the chip of a device; empty: `failure`.
std::string ChipOf(const PmLibrary& library, std::size_t device, PmFailure* failure);

class PmSession {
 public:
  explicit PmSession(const PmLibrary& library) : library_(library) {}
  ~PmSession() { Close(); }
  PmSession(const PmSession&) = delete;
  PmSession& operator=(const PmSession&) = delete;

  // Makes a context of the device the calling thread's. False: there is none.
  using UseContext = bool(int device);
  // Takes the device's counters; `device` as CUDA counts. `use_context` is called only if CUPTI
  // wants a context. These are false with `failure`.
  bool Open(int device, const std::string& chip, const CounterSet& set, std::int64_t interval_ns,
            UseContext* use_context, PmFailure* failure);
  bool Start(PmFailure* failure);
  // What was taken since the last time, appended.
  bool Decode(PmSamples* samples, PmFailure* failure);
  bool Stop(PmFailure* failure);
  bool started() const { return started_; }
  // Gives the counters back.
  void Close();
  // CUPTI is gone, and with it the session: nothing of it may be called any more.
  void Forget();

 private:
  bool Done(const char* function, pm::Result result, PmFailure* failure);
  bool StartOnce(PmFailure* failure);
  bool OpenOnce(int device, const std::string& chip, std::int64_t interval_ns, PmFailure* failure);
  bool Configure(int device, const std::string& chip, PmFailure* failure);
  bool SetInterval(const std::string& chip, std::int64_t interval_ns, PmFailure* failure);
  bool CleanImage(PmFailure* failure);
  bool TakeImage(PmSamples* samples, PmFailure* failure);

  const PmLibrary& library_;
  int device_ = 0;
  std::string chip_;
  std::int64_t interval_ns_ = 0;
  std::vector<const char*> metrics_;
  pm::Host* host_ = nullptr;
  pm::Sampling* sampling_ = nullptr;
  bool started_ = false, is_clean_ = false;  // the latter: of image_
  std::vector<std::uint8_t> availability_, config_, image_;
};

}  // namespace traceinject
