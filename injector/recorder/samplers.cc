// SPDX-License-Identifier: Apache-2.0
#include "injector/recorder/samplers.h"

#include "injector/base/clock.h"

namespace traceinject {
namespace {

template <typename Row>
void Append(std::vector<Row>* to, const std::vector<Row>& from) {
  to->insert(to->end(), from.begin(), from.end());
}

// False, and none: it has no thread.
template <typename Sampling>
bool StartOrDrop(std::unique_ptr<Sampling>* sampling) {
  if ((*sampling)->Start()) return true;
  sampling->reset();
  return false;
}

}  // namespace

std::vector<std::string> Samplers::Start(const std::vector<DeviceRow>& devices,
                                         const CuptiLibrary* cupti, bool stalled) {
  std::vector<std::string> failed;
  if (options_->telemetry_hz != 0 && !StartTelemetry(devices))
    failed.emplace_back("device and host sampling: cannot create its thread");
  if (options_->stacks_hz != 0 && !StartStacks(stalled))
    failed.emplace_back("Python stacks: cannot create the thread that samples them");
  if (options_->counters != "0" && !StartCounters(devices, cupti))
    failed.emplace_back("hardware counters: cannot create the thread that samples them");
  return failed;
}

bool Samplers::StartTelemetry(const std::vector<DeviceRow>& devices) {
  telemetry_ = std::make_unique<Sampler>(options_->telemetry_hz, base_ns_, devices);
  return StartOrDrop(&telemetry_);
}

bool Samplers::StartStacks(bool stalled) {
  stacks_ = std::make_unique<StackSampler>(options_->stacks_hz, base_ns_);
  if (stalled) stacks_->NoteStall();
  return StartOrDrop(&stacks_);
}

bool Samplers::StartCounters(const std::vector<DeviceRow>& devices, const CuptiLibrary* cupti) {
  counters_ = std::make_unique<CounterSampler>(*options_, *environment_, base_ns_, devices, cupti);
  return StartOrDrop(&counters_);
}

void Samplers::Stop() noexcept {
  if (stacks_ != nullptr) stacks_->Stop();
  if (telemetry_ != nullptr) telemetry_->Stop();
  if (counters_ != nullptr) counters_->Stop();
}

void Samplers::Tell(const std::vector<PythonDecoder::ToldWorker>& workers,
                    const std::vector<StreamRow>& streams) {
  for (const auto& [pid, loader] : workers) {
    if (telemetry_ != nullptr) telemetry_->TellWorker(pid, loader);
    if (stacks_ != nullptr) stacks_->AddChild(pid);
  }
  for (const StreamRow& stream : streams) {
    const int device = static_cast<int>(stream.device);
    if (telemetry_ != nullptr) telemetry_->UseDevice(device);
    if (counters_ != nullptr) counters_->UseDevice(device);
  }
}

void Samplers::NoteStall() {
  if (stacks_ != nullptr) stacks_->NoteStall();
}

void Samplers::NoteWindow() {
  if (counters_ != nullptr) counters_->Notice();
}

void Samplers::LookAtCallers() {
  if (stacks_ != nullptr) stacks_->LookAtCallers();
}

void Samplers::JoinCalls(const Batch& batch, Dictionary* dictionary) {
  if (stacks_ != nullptr) stacks_->JoinCalls(batch, dictionary);
}

void Samplers::Take(bool everything, Dictionary* dictionary, Batch* batch) {
  if (stacks_ != nullptr) {
    stacks_->Take(dictionary, batch);
    stacks_->JoinCalls(*batch, dictionary);
    stacks_->SettleCalls(NowNs() - base_ns_, everything, batch);
  }
  if (counters_ != nullptr) TakeCounters(batch);
  if (telemetry_ != nullptr) TakeTelemetry(dictionary, batch);
}

void Samplers::TakeCounters(Batch* batch) {
  const TakenCounters taken = counters_->Take();
  Append(&batch->counter_sets, taken.sets);
  Append(&batch->counters, taken.counters);
  Append(&batch->counter_samples, taken.samples);
}

void Samplers::TakeTelemetry(Dictionary* dictionary, Batch* batch) {
  Samples taken = telemetry_->Take();
  Append(&batch->device_samples, taken.devices);
  Append(&batch->device_slow_samples, taken.slow_devices);
  for (ThreadSample& sample : taken.threads) {
    sample.row.thread = dictionary->Thread(sample.tid, sample.start_ticks);
    batch->host_samples.push_back(sample.row);
  }
  for (const WorkerRow& worker : taken.workers.workers) {
    if (worker.ended) dictionary->WorkerEnded(worker.id);
  }
  Append(&batch->workers, taken.workers.workers);
  Append(&batch->worker_samples, taken.workers.samples);
  Append(&batch->facts, taken.facts);
}

std::string Samplers::DetailOf(Health id) const {
  if (id == Health::kDeviceSampleFailed && telemetry_ != nullptr) return telemetry_->failure();
  if (id == Health::kStackFailed && stacks_ != nullptr) return stacks_->failure();
  if (counters_ == nullptr) return {};
  if (id == Health::kCounterFailed || id == Health::kCounterUnavailable)
    return counters_->reasons();
  return id == Health::kCounterTrialsFailed ? counters_->failed_trials() : std::string();
}

}  // namespace traceinject
