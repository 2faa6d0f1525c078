// SPDX-License-Identifier: Apache-2.0
// What looks at the process and its devices beside their events, each on a thread of its own:
// telemetry of devices and host, stacks of Python, hardware counters. They run from the file's
// beginning to the end of the recording; one that is not wanted, or could not be had, gives
// nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "injector/base/counters.h"
#include "injector/base/environment_copy.h"
#include "injector/counters/counter_sampler.h"
#include "injector/options/options.h"
#include "injector/python/decoder.h"
#include "injector/rows/dictionary.h"
#include "injector/stacks/stack_sampler.h"
#include "injector/telemetry/sampler.h"

namespace traceinject {

class Samplers {
 public:
  // All have to outlive this.
  Samplers(const Options* options, const EnvironmentCopy* environment, std::int64_t base_ns)
      : options_(options), environment_(environment), base_ns_(base_ns) {}

  // Once. `devices`: of the machine; `stalled`: the GPU stalls already. Returns a sentence for each
  // that is wanted and has no thread.
  std::vector<std::string> Start(const std::vector<DeviceRow>& devices, const CuptiLibrary* cupti,
                                 bool stalled);
  // Their threads may be left behind in a call, and with them what they work on.
  void Stop() noexcept;

  // What they learn from events: which processes load data, which devices have work. The former
  // begin before the first GPU work, and with it the file and the samplers, are there.
  void Tell(const std::vector<PythonDecoder::ToldWorker>& workers,
            const std::vector<StreamRow>& streams);
  // A GPU stalls: stacks are of interest now.
  void NoteStall();
  // A window begins or ends.
  void NoteWindow();

  // Before queues are drained, and after: stacks are joined to the calls that are in the batch.
  void LookAtCallers();
  void JoinCalls(const Batch& batch, Dictionary* dictionary);
  // Moves what was sampled into the batch. `everything`: there is no more to come.
  void Take(bool everything, Dictionary* dictionary, Batch* batch);

  // Null: none are sampled.
  StackSampler* stacks() const { return stacks_.get(); }
  // What a counter of theirs is about, in words, where there are some.
  std::string DetailOf(Health id) const;

 private:
  bool StartTelemetry(const std::vector<DeviceRow>& devices);
  bool StartStacks(bool stalled);
  bool StartCounters(const std::vector<DeviceRow>& devices, const CuptiLibrary* cupti);
  void TakeTelemetry(Dictionary* dictionary, Batch* batch);
  void TakeCounters(Batch* batch);

  const Options* options_;
  const EnvironmentCopy* environment_;
  std::int64_t base_ns_;
  std::unique_ptr<Sampler> telemetry_;
  std::unique_ptr<StackSampler> stacks_;
  std::unique_ptr<CounterSampler> counters_;
};

}  // namespace traceinject
