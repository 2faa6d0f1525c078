// SPDX-License-Identifier: Apache-2.0
// What the readers of the tables of a rocmProfileData trace share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/foreign/foreign_reader.h"
#include "analyzer/import/source/id_map.h"

namespace traceinject {

// A row of rocpd_api that called HIP or CUDA.
struct RpdCall {
  ForeignProcess* process = nullptr;
  std::int64_t id = 0;
  std::uint32_t name = kNone;  // index into ForeignStrings::texts
};

class RpdReader : public ForeignReader {
 public:
  using ForeignReader::ForeignReader;

  // Texts, strides and the first moment, before all else.
  Status ReadBasics();

  // Of markers: version 3 has a table of their own for them.
  const ForeignStrings& texts() const { return texts_.texts.empty() ? strings_ : texts_; }
  // When the first event began, which its times count from from then on. The tracer's clock is
  // CLOCK_MONOTONIC: when that was is not known.
  std::int64_t base() const { return base_; }

  // Files of several machines number these by machine: node * stride + number (the views napi and
  // nop of the schema).
  std::int64_t NodeOfPid(std::int64_t pid) const { return pid_stride_ > 0 ? pid / pid_stride_ : 0; }
  std::int64_t PidOf(std::int64_t pid) const { return pid_stride_ > 0 ? pid % pid_stride_ : pid; }
  std::int64_t GpuOf(std::int64_t gpu) const { return gpu_stride_ > 0 ? gpu % gpu_stride_ : gpu; }
  // Of a queue of a GPU.
  std::int64_t QueueOf(std::int64_t gpu, std::int64_t queue) const {
    const std::int64_t before = gpu_stride_ > 0 ? gpu / gpu_stride_ * gpu_stride_ : 0;
    return queue >= before ? queue - before : queue;
  }

  void AddCall(const RpdCall& call);
  // Null: there is no such row. O(1).
  const RpdCall* FindCall(std::int64_t id) const;

 private:
  Status ReadStrides();
  Status ReadBase();

  ForeignStrings texts_;
  std::int64_t base_ = 0, pid_stride_ = 0, gpu_stride_ = 0;
  std::vector<RpdCall> calls_;
  IdMap call_ids_;
};

}  // namespace traceinject
