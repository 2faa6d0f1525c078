// SPDX-License-Identifier: Apache-2.0
// NCCL operations from what a PyTorch trace notes on their kernels.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/import/kineto/kineto_event.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Where the kernels carry nothing, what the host says around their launch counts: the operator
// record_param_comms, if it carries the same, else the annotation "nccl:all_reduce" with the sizes
// of its tensors. That tells no communicator: it is taken for that of all ranks (kAssumedWorld).
class KinetoCollectives {
 public:
  // Takes note of a kernel. Kernels without the metadata are passed over. False: there is some, but
  // the function or the size of a message does not follow from it.
  bool Add(const KinetoEvent& kernel, int device, Rank& rank);
  // Takes note of an annotation or operator of a thread, if it is about a collective.
  void AddRange(const KinetoEvent& event, std::uint32_t thread);

  // Fills rank.collectives. The trace does not hold the calls of NCCL, so each stands where its
  // kernel was launched, or where the host says that it was. `anchor`: time 0 of the rank, as the
  // trace counts. Needs operations that are joined.
  void Place(TimeNs anchor, Rank& rank);

 private:
  struct Call {
    std::uint32_t function = kNone, communicator = kNone;
    std::int64_t bytes = -1;
    std::int32_t peer = -1;
  };
  // What the host says between two moments, with texts of its own.
  struct Range {
    TimeNs start = 0, length = 0;  // as the trace counts
    std::uint32_t thread = 0;
    std::string name, dtype, group_name, group_ranks;
    KinetoCollective collective;  // without texts
    bool has_group = false;       // it tells its communicator

    KinetoCollective Told() const;
  };

  static void Tell(const Call& call, Collectives& calls);
  Call CallOf(const KinetoCollective& collective, bool has_group, int device, Rank& rank);
  std::uint32_t FunctionId(const std::string& function, Rank& rank);
  std::uint32_t CommunicatorId(const KinetoCollective& collective, int device, Rank& rank);
  std::uint32_t WorldId(int device, Rank& rank);

  std::map<std::uint64_t, Call> noted_;  // by correlation id
  std::vector<Range> ranges_;
  std::map<std::string, std::uint32_t> functions_;
  std::map<std::pair<std::uint64_t, int>, std::uint32_t> communicators_;
};

// NCCL's name of a function that PyTorch calls "allreduce", "_allgather_base", ...; empty: unknown.
std::string_view NcclFunctionOf(std::string_view collective_name);

// collective.bytes of run_db.sql: what the call's own count argument times the type comes to.
// Empty: unknown type or size.
std::optional<std::int64_t> CollectiveBytes(std::string_view function,
                                            const KinetoCollective& collective);

}  // namespace traceinject
