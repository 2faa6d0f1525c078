// SPDX-License-Identifier: Apache-2.0
// What the threads of this process use of the host, from /proc/self/task.
//
// Cost: a thread that did not run since the last round costs one short file (schedstat), one that
// ran three. Where the kernel has no schedstat, stat takes its place.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "injector/rows/rows.h"

namespace traceinject {

struct ThreadSample {
  std::int64_t tid;
  std::int64_t start_ticks;  // of the thread: ids are used again
  HostSampleRow row;         // without the thread
};

class ThreadSampler {
 public:
  // `proc` is /proc, or what plays it in a test.
  explicit ThreadSampler(std::string proc) : folder_(std::move(proc) + "/self/task") {}

  // Adds a sample of each thread that changed since the last round, after one of the last round
  // where that had none (see host_sample in run_db.sql). False: /proc tells nothing. O(threads).
  bool Sample(std::int64_t time, std::vector<ThreadSample>* samples);

 private:
  struct Known {
    HostSampleRow row{};
    std::int64_t slices = -1;      // times it was given a processor
    std::int64_t start_ticks = 0;  // since boot
    std::uint64_t round = 0;       // the last one in which it was there
    bool stored = false;           // `row` was, with the time of the last round
  };

  bool Read(const std::string& folder, Known* now) const;
  bool ReadCpu(const std::string& folder, Known* now) const;

  std::string folder_;
  std::map<std::int64_t, Known> known_;
  std::uint64_t round_ = 0;
  std::int64_t last_time_ = 0;
};

}  // namespace traceinject
