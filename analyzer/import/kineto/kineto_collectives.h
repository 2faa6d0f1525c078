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

class KinetoCollectives {
 public:
  // Takes note of a kernel. Kernels without the metadata are passed over. False: there is some, but
  // the function or the size of a message does not follow from it.
  bool Add(const KinetoEvent& kernel, int device, Rank& rank);

  // Fills rank.collectives. The trace does not hold the calls of NCCL, so each stands where its
  // kernel was launched. Needs operations that are joined: `api_row` finds the row of
  // rank.api with a correlation id, or kNone.
  template <typename ApiRow>
  void Place(const ApiRow& api_row, Rank& rank) const {
    for (const Noted& noted : noted_) PlaceOne(noted, api_row(noted.correlation), rank);
  }

 private:
  struct Noted {
    std::uint64_t correlation = 0;
    std::uint32_t function = kNone, communicator = kNone;
    std::int64_t bytes = 0;
  };

  static void PlaceOne(const Noted& noted, std::uint32_t api_row, Rank& rank);
  std::uint32_t FunctionId(const std::string& function, Rank& rank);
  std::uint32_t CommunicatorId(const KinetoCollective& collective, int device, Rank& rank);

  std::vector<Noted> noted_;
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
