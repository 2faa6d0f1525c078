// SPDX-License-Identifier: Apache-2.0
// The processes that prepare data for this one, from /proc: workers of data loaders as the Python
// side names them, and other Python processes that this one started and that use no GPU.
//
// What they cost is told apart by three figures: a worker that decodes has processor time; one that
// waits for storage has read bytes, and its main thread is in state D; one that waits for somebody
// else has neither.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "injector/rows/rows.h"
#include "machine/proc_files.h"

namespace traceinject {

// Times of one moment on the clocks that are needed.
struct WorkerClock {
  std::int64_t time;         // of the recording
  std::int64_t boottime_ns;  // CLOCK_BOOTTIME, in which /proc gives starts of processes
};

class WorkerSampler {
 public:
  static constexpr std::size_t kMax = 512;  // at one time

  struct Found {
    std::vector<WorkerRow> workers;  // new, or changed
    std::vector<WorkerSampleRow> samples;
  };

  // `proc` is /proc, or what plays it in a test; `pid` is this process.
  WorkerSampler(std::string proc, std::int64_t pid) : proc_(std::move(proc)), pid_(pid) {}

  // The Python side names a worker. False: /proc does not show it.
  bool Tell(std::int64_t pid, std::uint32_t loader, const WorkerClock& now, Found* found);

  // Looks for Python processes that nobody named. O(threads), or O(processes of the machine) where
  // the kernel does not list children.
  void FindChildren(const WorkerClock& now, Found* found);

  // Notes what each worker is doing, and which have ended. O(workers).
  void LookAtStates(const WorkerClock& now, Found* found);

  // Adds a sample of each worker. O(workers).
  void Sample(const WorkerClock& now, Found* found);

 private:
  struct Worker {
    WorkerRow row{};
    std::int64_t start_ticks = 0;
    std::int64_t cpu_ns = -1, read_bytes = -1;
    int states = 0, states_disk = 0;
    bool named = false;  // by the Python side
  };

  std::string Folder(std::int64_t pid) const { return proc_ + "/" + std::to_string(pid); }
  std::optional<ProcStat> ReadStat(std::int64_t pid) const;
  std::vector<std::int64_t> Children() const;
  bool IsPython(std::int64_t pid) const;
  bool UsesGpu(const WorkerRow& worker) const;
  Worker* Add(std::int64_t pid, const ProcStat& stat, const WorkerClock& now);
  void End(Worker* worker, const WorkerClock& now, Found* found);
  void AddSample(Worker* worker, const WorkerClock& now, Found* found) const;

  std::string proc_;
  std::int64_t pid_;
  std::uint32_t last_id_ = 0;
  std::map<std::int64_t, Worker> workers_;  // alive, by process id
};

}  // namespace traceinject
