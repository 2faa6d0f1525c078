// SPDX-License-Identifier: Apache-2.0
// NCCL's operations: what NVTX tells of the call and what the profiler interface tells of how it
// was executed become one `collective` row and its `collective_plan` rows. Writer thread only.
//
// Which call an operation belongs to:
//   * from version 5 of the interface on, it names the event of its call, which comes on the thread
//     of the call and inside its NVTX range
//   * before, it is the operation of the NVTX range that is open on its thread, or, after a group,
//     the oldest one without a plan that has its communicator, function, bytes, root and peer:
//     NCCL sorts the operations of a group by size. To a plug-in of version 3 or older, NCCL 2.27
//     and later do not report the communicator: then that of NVTX counts
// Where NVTX tells nothing, the row is made from the interface alone.
//
// Threads' queues are emptied one after the other, so that an operation may come before its call or
// its launch, when these are of another thread: it then waits for the end of the flush.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "injector/base/events.h"
#include "injector/nccl/communicators.h"
#include "injector/nccl/nccl_payload.h"
#include "injector/rows/dictionary.h"

namespace traceinject {

class NcclDecoder {
 public:
  NcclDecoder(std::int64_t base_ns, Dictionary* dictionary, Batch* batch)
      : base_ns_(base_ns), dictionary_(dictionary), batch_(batch), communicators_(batch) {}

  static bool Decodes(EventType type) {
    return type >= EventType::kNcclInit && type <= EventType::kNcclOperation;
  }

  // `slot` tells the thread's ring, `tid` the thread. Events of one slot come in order. O(log n).
  void Decode(int slot, int tid, const EventHeader& event);

  // From NVTX: the range of an operation begins (times relative to the base); its number. The row
  // is stored when it ends.
  std::uint64_t Begin(int slot, std::uint32_t thread, std::int64_t start,
                      const NcclOperation& operation);
  void End(int slot, std::uint64_t collective, std::int64_t end);

  NcclCommunicators& communicators() { return communicators_; }

  // The thread of that slot ended, or events of it were lost: which range is open is not known.
  void ForgetThread(int slot);

  // Once a flush, before it is stored: what waits for another thread is tried again.
  // `everything`: nothing will follow. O(waiting).
  void EndFlush(bool everything);

 private:
  // An operation that NVTX told of.
  struct Announced {
    CollectiveRow row;
    std::uint64_t hash = 0;  // 0: this NCCL does not report
    bool has_parts = false;  // NCCL carries it out as sends and receives
    bool planned = false;
    bool stored = false;

    // False only if NVTX told of another communicator. 0: the interface does not report.
    bool IsOn(std::uint64_t communicator) const {
      return hash == 0 || communicator == 0 || hash == communicator;
    }
  };
  // A call that the interface told of, from version 5 on.
  struct Call {
    std::uint64_t group = 0;
    std::int64_t count = 0;
    std::uint32_t datatype = 0;
    std::uint64_t collective = 0;
    bool captured = false, planned = false;
    std::optional<CollectiveRow> own;  // NVTX told nothing: not stored yet
    bool ended = false;
  };
  struct Launch {
    std::uint64_t group = 0;
    std::uint32_t thread = 0;
    std::int64_t start = 0, dur = -1;  // -1: not ended
  };
  struct Waiting {
    int slot, tid, tries;
    NcclOperationEvent event;
  };
  // Function, bytes, root, peer, communicator (hash; 0: not reported).
  using Key = std::tuple<std::uint32_t, std::int64_t, int, int, std::uint64_t>;
  using PendingByKey = std::map<Key, std::deque<std::uint64_t>>;
  using Place = std::pair<int, std::uint64_t>;  // slot and communicator

  void DecodeCall(int slot, int tid, const NcclCallEvent& event);
  void DecodeCallEnd(const NcclEndEvent& event);
  void DecodeLaunch(int slot, int tid, const NcclLaunchEvent& event);
  void DecodeLaunchEnd(const NcclEndEvent& event);

  // False: its call, or its launch, is not there yet.
  bool Resolve(const Waiting& waiting, bool last_try);
  bool ResolveByCall(const Waiting& waiting, bool last_try);
  // The operation it carries out, by what both tell; 0: none.
  std::uint64_t Claim(int slot, const NcclOperationEvent& event);
  PendingByKey::iterator FindPending(Key key);
  std::uint64_t ClaimPending(PendingByKey::iterator same, std::uint64_t hash);
  std::uint64_t StoreOwn(int tid, const NcclOperationEvent& event);
  const Launch* FindLaunch(const Waiting& waiting, std::uint64_t group) const;
  void AddPlan(std::uint64_t collective, const Waiting& waiting, const Call* call,
               const Launch* launch);

  CollectiveRow OwnRow(const NcclWord& function, std::int64_t time, int tid,
                       std::uint64_t communicator, std::int64_t bytes);
  void AddPending(Announced announced);
  void Store(const CollectiveRow& row);
  void StoreOwnOf(Call* call);

  std::int64_t base_ns_;
  Dictionary* dictionary_;
  Batch* batch_;
  NcclCommunicators communicators_;
  std::uint64_t last_collective_ = 0;
  bool nvtx_tells_ = false;  // of operations, in this process
  int version_ = 0;          // of the interface; 0: not known yet

  std::map<int, std::vector<Announced>> open_;  // by slot
  std::map<std::uint64_t, Announced> pending_;  // by number: ended, without a plan
  PendingByKey pending_by_key_;
  std::vector<std::uint64_t> held_;  // of pending_, not stored: the communicator may become known

  std::map<std::uint64_t, Call> calls_;       // by id
  std::vector<std::uint64_t> unstored_;       // calls with rows of their own, of this flush
  std::vector<std::uint64_t> old_unstored_;   // and of the one before
  std::map<std::uint64_t, Launch> launches_;  // by id
  std::map<Place, std::uint64_t> last_launch_;
  // The launch of a group and communicator; 0: it had several.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> launch_of_group_;
  std::vector<Waiting> waiting_;
};

}  // namespace traceinject
