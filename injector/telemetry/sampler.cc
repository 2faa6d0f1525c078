// SPDX-License-Identifier: Apache-2.0
#include "injector/telemetry/sampler.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "injector/base/clock.h"
#include "injector/base/counters.h"
#include "injector/base/own_thread.h"
#include "injector/base/sources.h"
#include "injector/telemetry/fork_gate.h"
#include "machine/system_facts.h"

namespace traceinject {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kStateNs = kSecondNs / 4;  // between looks at the states of workers
constexpr std::int64_t kLongestStopNs = kSecondNs / 5;
// Looking for children costs more where the kernel does not list them: less and less often.
constexpr std::int64_t kLongestChildrenNs = 16 * kSecondNs;
// Rows of a table that wait for the writer at most: more than it leaves in many flushes.
constexpr std::size_t kMaxWaiting = 50'000;

// The one of this process, for the exit.
std::atomic<Sampler*> g_sampler{nullptr};

}  // namespace

Sampler::Sampler(std::int64_t hz, std::int64_t base_ns, std::vector<DeviceRow> devices)
    : hz_(hz),
      base_ns_(base_ns),
      devices_(std::move(devices)),
      owner_(getpid()),
      threads_("/proc"),
      workers_("/proc", owner_) {}

bool Sampler::Start() {
  if (!ForkGate::Install() || !StartOwnThread(&thread_, RunThread, this)) return false;
  g_sampler.store(this, std::memory_order_release);
  return true;
}

void* Sampler::RunThread(void* sampler) {
  pthread_setname_np(pthread_self(), "traceinject-tel");
  try {
    static_cast<Sampler*>(sampler)->Run();
  } catch (...) {  // out of memory: no more samples
    g_counters.Add(Health::kDeviceSampleFailed);
  }
  return nullptr;
}

// NVML's own exit handlers come after this one, which is registered once NVML is loaded: no call
// must be under way in them.
void Sampler::StopAtExit() noexcept {
  Sampler* sampler = g_sampler.load(std::memory_order_acquire);
  if (sampler != nullptr && sampler->owner_ == getpid()) sampler->Stop();
}

void Sampler::Stop() noexcept {
  if (stopped_.exchange(true)) return;
  stop_.store(true, std::memory_order_release);
  wake_.Post();
  if (JoinWithin(thread_, kLongestStopNs)) return;
  try {
    Fail("a call into NVML does not return");
  } catch (...) {  // out of memory: no reason, but counted
  }
}

void Sampler::UseDevice(int device) {
  std::lock_guard lock(mutex_);
  used_.insert(device);
}

void Sampler::TellWorker(std::int64_t pid, std::uint32_t loader) {
  {
    std::lock_guard lock(mutex_);
    if (told_.size() < WorkerSampler::kMax) told_.push_back({pid, loader});
  }
  wake_.Post();  // it may be gone soon
}

Samples Sampler::Take() {
  std::lock_guard lock(mutex_);
  return std::exchange(samples_, {});
}

std::string Sampler::failure() {
  std::lock_guard lock(mutex_);
  return failure_;
}

void Sampler::Fail(const std::string& why) {
  g_counters.Add(Health::kDeviceSampleFailed);
  std::lock_guard lock(mutex_);
  failure_ = why;
}

std::int64_t Sampler::Now() const { return NowNs() - base_ns_; }

WorkerClock Sampler::Clock() const { return {Now(), ReadClockNs(CLOCK_BOOTTIME)}; }

std::set<int> Sampler::UsedDevices() {
  std::lock_guard lock(mutex_);
  return used_;
}

template <typename Row>
void Sampler::Keep(std::vector<Row> Samples::*table, std::vector<Row> rows, Health seen,
                   Health dropped) {
  g_counters.Add(seen, static_cast<std::int64_t>(rows.size()));
  std::lock_guard lock(mutex_);
  std::vector<Row>& kept = samples_.*table;
  if (kept.size() + rows.size() > kMaxWaiting) {
    g_counters.Add(dropped, static_cast<std::int64_t>(rows.size()));
    return;
  }
  kept.insert(kept.end(), rows.begin(), rows.end());
}

void Sampler::KeepFacts(std::vector<SystemFactRow> facts) {
  std::lock_guard lock(mutex_);
  std::move(facts.begin(), facts.end(), std::back_inserter(samples_.facts));
}

void Sampler::KeepWorkers(WorkerSampler::Found found) {
  g_counters.Add(Health::kWorkerSampleSeen, static_cast<std::int64_t>(found.samples.size()));
  std::lock_guard lock(mutex_);
  WorkerSampler::Found& kept = samples_.workers;
  kept.workers.insert(kept.workers.end(), found.workers.begin(), found.workers.end());
  if (kept.samples.size() + found.samples.size() > kMaxWaiting) {
    g_counters.Add(Health::kWorkerSampleDropped, static_cast<std::int64_t>(found.samples.size()));
    return;
  }
  kept.samples.insert(kept.samples.end(), found.samples.begin(), found.samples.end());
}

// Loads NVML when the first device is used, and tells the facts of the devices that are new.
void Sampler::OpenDevices() {
  const std::set<int> used = UsedDevices();
  if (used.empty() || sampled_.size() == used.size()) return;
  const ForkGate::Call call;
  if (!std::exchange(nvml_tried_, true)) {
    std::string why;
    nvml_ = OpenNvml(&why);
    if (nvml_) {
      known_devices_ = std::make_unique<NvmlDevices>(*nvml_, devices_);
      atexit(StopAtExit);
    } else {
      Fail(why);
    }
  }
  for (const int device : used) {
    const auto [entry, fresh] = sampled_.try_emplace(device);
    if (!fresh) continue;
    for (const DeviceRow& row : devices_) {
      if (row.device == device) KeepFacts(ReadGpuPlaceFacts("", row));
    }
    if (known_devices_ == nullptr) continue;
    KeepFacts(known_devices_->Facts(device));
    if (!known_devices_->Knows(device)) Fail("NVML does not know device " + std::to_string(device));
  }
}

void Sampler::SampleDevices() {
  if (known_devices_ == nullptr) return;
  std::vector<DeviceSampleRow> rows;
  for (const auto& [device, state] : sampled_) {
    if (!known_devices_->Knows(device)) continue;
    const ForkGate::Call call;
    if (const auto row = known_devices_->Sample(device, Now())) {
      rows.push_back(*row);
    } else {
      g_counters.Add(Health::kDeviceSampleFailed);
    }
  }
  Keep(&Samples::devices, std::move(rows), Health::kDeviceSampleSeen, Health::kDeviceSampleDropped);
}

// One device at a time, since it takes long: the others wait for the next round.
void Sampler::SampleOneSlowly(std::int64_t monotonic_ns) {
  if (known_devices_ == nullptr) return;
  for (auto& [device, state] : sampled_) {
    if (state.next_slow_ns > monotonic_ns) continue;
    state.next_slow_ns = monotonic_ns + kSecondNs;
    const ForkGate::Call call;
    const auto row = known_devices_->SampleSlow(device, Now());
    if (!row) continue;
    Keep(&Samples::slow_devices, {*row}, Health::kDeviceSampleSeen, Health::kDeviceSampleDropped);
    NoteLink(*row);
    return;
  }
}

// A link idles at a lower speed: the best that was seen is the one under load.
void Sampler::NoteLink(const DeviceSlowSampleRow& row) {
  Device& device = sampled_[row.device];
  const std::string prefix = std::to_string(row.device) + ".";
  std::vector<SystemFactRow> facts;
  if (row.pcie_generation > device.best_generation) {
    device.best_generation = row.pcie_generation;
    facts.push_back({"gpu", prefix + "pcie_generation", std::to_string(row.pcie_generation), {}});
  }
  if (row.pcie_width > device.best_width) {
    device.best_width = row.pcie_width;
    facts.push_back({"gpu", prefix + "pcie_width", std::to_string(row.pcie_width), {}});
  }
  KeepFacts(std::move(facts));
}

void Sampler::TakeTold() {
  std::vector<Told> told;
  {
    std::lock_guard lock(mutex_);
    told.swap(told_);
  }
  WorkerSampler::Found found;
  for (const Told& worker : told) {
    if (!workers_.Tell(worker.pid, worker.loader, Clock(), &found))
      g_counters.Add(Health::kWorkerSampleMissed);
  }
  KeepWorkers(std::move(found));
}

void Sampler::SampleHost(bool look_for_children) {
  std::vector<ThreadSample> threads;
  if (!threads_.Sample(Now(), &threads)) g_counters.Add(Health::kHostSampleFailed);
  Keep(&Samples::threads, std::move(threads), Health::kHostSampleSeen, Health::kHostSampleDropped);
  WorkerSampler::Found found;
  const WorkerClock now = Clock();
  if (look_for_children) workers_.FindChildren(now, &found);
  workers_.LookAtStates(now, &found);
  workers_.Sample(now, &found);
  KeepWorkers(std::move(found));
}

void Sampler::LookAtStates() {
  WorkerSampler::Found found;
  workers_.LookAtStates(Clock(), &found);
  KeepWorkers(std::move(found));
}

// Of the calling thread.
void Sampler::CountProcessorTime() {
  g_counters.Set(Health::kSamplerCpuUs, ReadClockNs(CLOCK_THREAD_CPUTIME_ID) / 1000);
}

void Sampler::Run() {
  KeepFacts(ReadHostFacts(""));
  const std::int64_t device_ns = kSecondNs / hz_;
  std::int64_t next_device = 0, next_state = 0, next_host = 0, next_children = 0;
  std::int64_t children_ns = kSecondNs;
  while (!stop_.load(std::memory_order_acquire)) {
    const std::int64_t now = ReadClockNs(CLOCK_MONOTONIC);
    TakeTold();
    if (now >= next_host) {
      const bool look = now >= next_children;
      if (Delivers(Source::kHostSamples)) SampleHost(look);
      if (look) {
        next_children = now + children_ns;
        children_ns = std::min(2 * children_ns, kLongestChildrenNs);
      }
      next_host = now + kSecondNs;
      next_state = now + kStateNs;
    } else if (now >= next_state) {
      if (Delivers(Source::kHostSamples)) LookAtStates();
      next_state = now + kStateNs;
    }
    if (now >= next_device) {
      OpenDevices();
      if (Delivers(Source::kDeviceSamples)) SampleDevices();
      if (Delivers(Source::kDeviceSlowSamples)) SampleOneSlowly(now);
      // Late rounds are left out, not made up for.
      next_device = std::max(next_device + device_ns, now + device_ns / 2);
    }
    CountProcessorTime();
    const std::int64_t next = std::min({next_device, next_state, next_host});
    const std::int64_t wait = next - ReadClockNs(CLOCK_MONOTONIC);
    if (wait > 0) wake_.Wait(wait);
  }
  TakeTold();
  SampleHost(true);
  CountProcessorTime();
}

}  // namespace traceinject
