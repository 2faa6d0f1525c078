// SPDX-License-Identifier: Apache-2.0
// Which events belong together: a call and what it launched on the GPU (one kernel, or all those of
// a CUDA graph), and the same collective operation on all ranks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "analyzer/view/rows/rows.h"

namespace traceinject {

// What is directly linked to one event.
struct LinkedEvents {
  // The call that launched a GPU operation, then the collective's call that it was launched for.
  std::vector<EventRef> causes;
  // What a call launched, by start; the first kMaxEffects of them.
  std::vector<EventRef> effects;
  std::size_t effects_left_out = 0;
  // The same collective on the other ranks, by rank: kernels of a kernel, calls of a call.
  std::vector<EventRef> peers;

  bool empty() const { return causes.empty() && effects.empty() && peers.empty(); }
};

class Links {
 public:
  // A CUDA graph may launch thousands of kernels: more than can be told apart when drawn.
  static constexpr std::size_t kMaxEffects = 100;

  // Nothing is linked.
  Links() = default;
  // What of the run belongs together: before its rows are built, which need memory when this no
  // longer does. It must outlive the links and stay as it is. O(operations + collectives x log).
  // Memory: about a byte per operation that has a launch, and 28 per launch of NCCL; in between 300
  // per launch of NCCL, and 16 per operation.
  explicit Links(const Run& run);
  // Where events stand, without which none is found. It must outlive the links, too. O(rows log).
  void IndexRows(const RowModel& model);
  Links(const Run& run, const RowModel& model);

  // O(log n + what is linked x lanes of its row x log n).
  LinkedEvents Of(const EventRef& ref) const;

 private:
  // The launch of one collective on one device: its first kernel and its call, as far as known.
  struct Launch {
    std::uint32_t rank = 0, device = 0;
    std::uint32_t kernel = kNone;     // row of GpuOps
    std::uint32_t call = kNone;       // row of Collectives
    std::uint32_t operation = kNone;  // launches with the same number are the same operation
  };
  struct RowKey {
    std::array<std::uint32_t, 4> parts = {};
    std::uint32_t row = 0;
  };
  using Launches = std::vector<Launch>;
  static std::tuple<std::uint32_t, std::uint32_t> CallOf(const Launch& launch) {
    return {launch.rank, launch.call};
  }

  void IndexLaunched();
  void IndexCollectives();
  static std::array<std::uint32_t, 4> KeyOf(const Row& row);
  void AddEvent(RowKind kind, std::uint32_t rank, std::uint32_t group, std::uint32_t member,
                TimeNs start_ns, std::uint32_t source, std::vector<EventRef>& events) const;
  void AddOp(std::uint32_t rank, std::uint32_t device, std::uint32_t op,
             std::vector<EventRef>& events) const;
  void AddApiCall(std::uint32_t rank, std::uint32_t call, std::vector<EventRef>& events) const;
  void AddCollectiveCall(std::uint32_t rank, std::uint32_t call,
                         std::vector<EventRef>& events) const;
  void AddLaunchedBy(std::uint32_t rank, std::uint32_t call, LinkedEvents& linked) const;
  template <typename AddPeer>
  void AddPeers(const Launch& launch, AddPeer add) const;

  const Run* run_ = nullptr;
  const RowModel* model_ = nullptr;
  std::vector<RowKey> rows_;  // sorted
  // Per rank and device: rows of its operations that have a launch, by (launch, start).
  std::vector<std::vector<PackedColumn<std::uint32_t>>> launched_;
  Launches by_kernel_;                       // by (rank, device, kernel)
  std::vector<std::uint32_t> by_call_;       // of these, with a call, by (rank, call)
  std::vector<std::uint32_t> by_operation_;  // of matched operations, by operation, then by rank
};

}  // namespace traceinject
