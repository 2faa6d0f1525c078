// SPDX-License-Identifier: Apache-2.0
// The jobs that are served, read anew when somebody asks for them and they have changed.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/commands/record/live_report.h"
#include "analyzer/commands/record/steps_so_far.h"
#include "analyzer/commands/serve/served_job.h"

namespace traceinject {

struct ServedJobsOptions {
  std::function<std::vector<JobFiles>()> find;  // the jobs there are now
  LiveOptions live;                             // how they are read; paths are not used
  bool has_labels = false;                      // metrics tell the job
  std::size_t most_jobs = 50;                   // those that changed last
  std::chrono::nanoseconds every{5'000'000'000};
};

class ServedJobs {
 public:
  // Jobs that have been read, or wait for it, the last that changed first.
  struct Page {
    std::vector<std::shared_ptr<const ServedJob>> jobs;
    std::size_t left_out = 0;  // older ones
  };

  explicit ServedJobs(ServedJobsOptions options) : options_(std::move(options)) {}

  // Looks for jobs and reads what has changed: at most every so often, no more than a fifth of the
  // time on that and on jobs that were read before, and a few seconds at once; the rest follows
  // the next time, jobs that were never read without a pause. What has not changed is not read
  // again. Callers wait for each other.
  Page Refresh();

  // Keeps others from reading recordings meanwhile: looking for a writer of a file loses the locks
  // that this process has on it.
  std::unique_lock<std::mutex> KeepFromReading() { return std::unique_lock(mutex_); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Known {
    std::shared_ptr<const ServedJob> job;
    StepsSoFar steps;
    std::string said;             // what was told of it on standard error
    Clock::time_point read_at{};  // or looked at, without a change
  };

  void FindJobs();
  // `spent`: on finding them.
  void ReadChanged(Clock::duration spent);
  void ReadIfChanged(const std::string& name, Known& known);

  const ServedJobsOptions options_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;  // by name
  std::vector<std::string> order_;      // names, the last that changed first
  std::size_t left_out_ = 0;
  std::optional<Clock::time_point> next_;  // empty: at once
};

}  // namespace traceinject
