// SPDX-License-Identifier: Apache-2.0
// What an export of Nsight Systems tells of the session, the machine and the processes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/import/foreign/foreign_rows.h"
#include "analyzer/import/nsys/nsys_reader.h"

namespace traceinject {

class NsysFacts {
 public:
  NsysFacts(ForeignRows& rows, const ForeignStrings& strings) : rows_(rows), strings_(strings) {}

  Status Read();

  // When the session began, which its times count from; 0: not reported.
  std::int64_t base_ns() const { return base_ns_; }

  // Of a process whose events are there: when it was recorded, its names, devices and streams.
  void Describe(std::uint64_t process_key, Rank& rank) const;

 private:
  using StreamKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // (pid, context, stream)
  // What a process saw under a number of CUDA.
  struct CudaDevice {
    std::optional<std::int64_t> gpu;  // id in the file
    std::string uuid;
  };

  Status ReadSession();
  Status ReadProcesses();
  Status ReadThreads();
  Status ReadHost();
  Status ReadGpus();
  Status ReadCudaDevices();
  Status ReadStreams();
  std::optional<Device> FindGpu(std::int64_t pid, int ordinal) const;
  std::optional<Device> AnyGpu() const;
  void DescribeDevice(std::int64_t pid, Device& device) const;

  ForeignRows& rows_;
  const ForeignStrings& strings_;
  std::int64_t base_ns_ = 0;
  std::optional<Interval> session_;
  std::string host_;
  std::map<std::uint64_t, std::string> processes_;                            // by NsysProcessKey
  std::map<std::int64_t, std::string> threads_;                               // by globalTid
  std::map<std::int64_t, Device> gpus_;                                       // by id in the file
  std::map<std::pair<std::int64_t, std::int64_t>, CudaDevice> cuda_devices_;  // by (pid, number)
  std::map<StreamKey, std::int32_t> priorities_;
  std::map<StreamKey, std::string> stream_names_;
};

}  // namespace traceinject
