// SPDX-License-Identifier: Apache-2.0
// A communicator that announces itself through NVTX as NCCL does: domain "NCCL", registered
// strings, static payload schemas (nccl src/include/nvtx.h and nvtx_payload_schemas.h, 2.18
// to 2.30).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace traceinject::fake {

class NcclCommunicator {
 public:
  // `with_hash`: payloads of 2.25 and later, which begin with the communicator's commHash;
  // otherwise those of 2.24 and older, and the creation is not announced. `size` and `rank` as NCCL
  // would be told.
  NcclCommunicator(bool with_hash, int size, int rank, int device);

  // An operation that launches its kernel by itself. `launch` runs inside the range.
  void AllReduce(std::uint64_t bytes, int reduction, const std::function<void()>& launch);
  void AllGather(std::uint64_t bytes, const std::function<void()>& launch);
  void ReduceScatter(std::uint64_t bytes, int reduction, const std::function<void()>& launch);
  void Broadcast(std::uint64_t bytes, int root, const std::function<void()>& launch);
  void Reduce(std::uint64_t bytes, int root, int reduction, const std::function<void()>& launch);
  // ncclGroupStart, ncclSend, ncclRecv, ncclGroupEnd; `launch` runs inside the last.
  void Exchange(std::uint64_t bytes, int peer, const std::function<void()>& launch);

 private:
  struct Operation {
    const char* function;  // without the "nccl" in front
    int schema;
    std::uint64_t bytes;
    int root = -1, reduction = -1, peer = -1;
  };
  void Announce(const Operation& operation, const std::function<void()>& body);
  std::string Payload(const Operation& operation) const;

  bool with_hash_;
  std::uint64_t hash_;
};

}  // namespace traceinject::fake
