// SPDX-License-Identifier: Apache-2.0
// What the program's threads tell of themselves, into rows: empties their queues and gives each
// event to the decoder of its kind.
#pragma once

#include <cstdint>
#include <functional>

#include "injector/base/events.h"
#include "injector/nccl/decoder.h"
#include "injector/nvtx/decoder.h"
#include "injector/python/decoder.h"
#include "injector/rows/dictionary.h"
#include "injector/rows/rows.h"
#include "injector/stacks/stack_sampler.h"

namespace traceinject {

class EventDecoder {
 public:
  EventDecoder(std::int64_t base_ns, Dictionary* dictionary, Batch* batch);

  // Calls look() now and then, so that what is decoded can be stored in between. O(events).
  void Drain(const std::function<void()>& look);

  // Where stacks go from now on; it outlives this.
  void SetStacks(StackSampler* stacks) { stacks_ = stacks; }

  // Some have more to do at the end of a flush.
  NcclDecoder& nccl() { return nccl_; }
  NvtxDecoder& nvtx() { return nvtx_; }
  PythonDecoder& python() { return python_; }

 private:
  void DecodeSync(int tid, const SyncEvent& event);
  void DecodeGemm(int tid, const GemmEvent& event);
  template <typename Event>
  void DecodeStack(int tid, const Event& event);

  std::int64_t base_ns_;
  Dictionary* dictionary_;
  Batch* batch_;
  NcclDecoder nccl_;
  NvtxDecoder nvtx_;
  PythonDecoder python_;
  StackSampler* stacks_ = nullptr;
};

}  // namespace traceinject
