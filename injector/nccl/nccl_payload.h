// SPDX-License-Identifier: Apache-2.0
// What NCCL says about an operation in the payload of its NVTX range (domain "NCCL").
//
// Source: nccl src/include/nvtx.h and nvtx_payload_schemas.h, tags 2.20 to 2.30. A schema id is (1
// << 24) + a number that is stable between versions. Until 2.24 a payload has no communicator and
// is 8 bytes shorter. Communicators are named by ncclComm's commHash, which is the same on all
// ranks. Comm-init ranges attach their payload when they end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace traceinject {

struct NcclOperation {
  std::string_view function;  // AllReduce, ...
  std::optional<std::uint64_t> communicator;
  std::int64_t bytes = 0;  // count x type size of the call's count argument
  int reduction = -1, peer = -1, root = -1;
};

struct NcclCommunicator {
  std::uint64_t communicator = 0;
  std::optional<std::uint64_t> parent;
  int size = -1, rank = -1, device = -1;
};

// Empty unless the payload is a collective's or a point-to-point operation's, with a size that is
// known.
std::optional<NcclOperation> ParseNcclOperation(std::uint64_t schema, const std::uint8_t* payload,
                                                std::size_t bytes);

// Empty unless the payload describes a new communicator (2.25+).
std::optional<NcclCommunicator> ParseNcclCommunicator(std::uint64_t schema,
                                                      const std::uint8_t* payload,
                                                      std::size_t bytes);

}  // namespace traceinject
