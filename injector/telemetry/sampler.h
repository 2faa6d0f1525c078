// SPDX-License-Identifier: Apache-2.0
// Samples of devices, threads and data workers, taken on a thread of its own: a call into NVML may
// take milliseconds and must not hold up the writer. The writer starts it when the file is there,
// fetches what it took at each flush, and stops it before the last one.
//
// A driver that never answers holds this thread for ever: it is then left behind, and nothing
// waits for it. So a sampler whose thread could not be stopped must never be destroyed.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "injector/base/wake.h"
#include "injector/rows/rows.h"
#include "injector/telemetry/thread_sampler.h"
#include "injector/telemetry/worker_sampler.h"
#include "machine/nvml_devices.h"
#include "schemas/health_counters.h"

namespace traceinject {

// What was taken since the last time; rows of workers and facts replace those of the same key.
struct Samples {
  std::vector<DeviceSampleRow> devices;
  std::vector<DeviceSlowSampleRow> slow_devices;
  std::vector<ThreadSample> threads;
  WorkerSampler::Found workers;
  std::vector<SystemFactRow> facts;
};

class Sampler {
 public:
  // `hz` samples of a device a second. `devices` are those the process can see.
  Sampler(std::int64_t hz, std::int64_t base_ns, std::vector<DeviceRow> devices);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // False: there is no thread.
  bool Start();

  // The process works on this device: it is sampled from now on. Any thread, cheap when repeated.
  void UseDevice(int device);
  // The Python side names a worker of a loader (data_loader.id; 0: unknown).
  void TellWorker(std::int64_t pid, std::uint32_t loader);

  Samples Take();

  // Ends the thread, after a last round of the host's samples. It waits for a fifth of a second at
  // most. Later calls do nothing.
  void Stop() noexcept;

  // Why devices are not sampled; empty: they are.
  std::string failure();

 private:
  struct Told {
    std::int64_t pid;
    std::uint32_t loader;
  };

  static void* RunThread(void* sampler);
  static void StopAtExit() noexcept;

  void Run();
  void OpenDevices();
  void SampleDevices();
  void SampleOneSlowly(std::int64_t monotonic_ns);
  void SampleHost(bool look_for_children);
  void LookAtStates();
  static void CountProcessorTime();
  void TakeTold();
  void NoteLink(const DeviceSlowSampleRow& row);
  void Fail(const std::string& why);
  std::int64_t Now() const;
  WorkerClock Clock() const;
  std::set<int> UsedDevices();

  template <typename Row>
  void Keep(std::vector<Row> Samples::*table, std::vector<Row> rows, Health seen, Health dropped);
  void KeepFacts(std::vector<SystemFactRow> facts);
  void KeepWorkers(WorkerSampler::Found found);

  const std::int64_t hz_, base_ns_;
  const std::vector<DeviceRow> devices_;
  pthread_t thread_{};
  pid_t owner_ = 0;
  Wake wake_;
  std::atomic<bool> stop_{false}, stopped_{false};

  std::mutex mutex_;  // of what follows; never held while something is read
  Samples samples_;
  std::set<int> used_;
  std::vector<Told> told_;
  std::string failure_;

  // The thread's own.
  ThreadSampler threads_;
  WorkerSampler workers_;
  std::optional<NvmlLibrary> nvml_;
  std::unique_ptr<NvmlDevices> known_devices_;
  bool nvml_tried_ = false;
  struct Device {
    std::int64_t next_slow_ns = 0;
    std::int64_t best_generation = 0, best_width = 0;  // of the PCIe link, seen so far
  };
  std::map<int, Device> sampled_;
};

}  // namespace traceinject
