// SPDX-License-Identifier: Apache-2.0
// NCCL's communicators, which NVTX announces when they are made and the profiler interface when it
// is initialized: one row each, whoever speaks first. Writer thread only.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "injector/base/events.h"
#include "injector/nccl/nccl_payload.h"
#include "injector/rows/rows.h"

namespace traceinject {

class NcclCommunicators {
 public:
  explicit NcclCommunicators(Batch* batch) : batch_(batch) {}

  // The communicator of that hash that was made last.
  std::uint32_t Id(std::uint64_t hash);

  // Of those that are known: the one of that hash that was made last, or the only one with that
  // parent. Rank and size have to agree as far as they are known. 0: none, or several.
  std::uint32_t Find(std::uint64_t hash, int rank, int size) const;
  std::uint32_t FindChild(std::uint32_t parent, int rank, int size) const;

  // NVTX: made at `created`.
  void Announce(const NcclCommunicator& made, std::int64_t created);
  // The profiler interface: being made at `created`.
  void Describe(const NcclInitEvent& event, std::int64_t created);

 private:
  struct Known {
    CommunicatorRow row;
    bool announced, described;
  };
  Known& Add(std::uint64_t hash);
  // One of that rank in it of which the other source has not spoken; null: none.
  Known* FindHalf(std::uint64_t hash, int rank, bool Known::*said, bool Known::*unsaid);

  Batch* batch_;
  std::map<std::uint64_t, std::vector<Known>> by_hash_;  // in the order in which they were made
  std::uint32_t count_ = 0;
};

}  // namespace traceinject
