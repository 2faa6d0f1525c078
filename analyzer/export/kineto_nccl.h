// SPDX-License-Identifier: Apache-2.0
// What torch.profiler notes on the kernels of NCCL: the other way round of kineto_collectives.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/metrics/links/collectives.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct KinetoNccl {
  std::string_view collective;  // "allreduce", "_allgather_base", ...
  std::string_view dtype;       // "Float", ...; "Byte" where the type is not known
  std::int64_t in_elements = 0, out_elements = 0;
  std::optional<int> group_size;
  std::string group_name;  // of the communicator: its name, else its hash
};

// What one rank of so many gives to an operation of message size S (collectives.h); empty: it is
// not known what the function does, or it takes the number of ranks.
std::optional<std::int64_t> BytesGiven(std::string_view function, std::int64_t message_bytes,
                                       std::optional<int> ranks);

// Empty: it is not known what the launch did, or it did several things at once.
std::optional<KinetoNccl> KinetoNcclOf(const Rank& rank, const NcclLaunch& launch);

}  // namespace traceinject
