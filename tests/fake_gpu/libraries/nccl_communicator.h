// SPDX-License-Identifier: Apache-2.0
// A communicator that announces itself through NVTX as NCCL does (domain "NCCL", registered
// strings, static payload schemas: nccl src/include/nvtx.h and nvtx_payload_schemas.h, 2.18 to
// 2.30) and tells a profiler plug-in of its work. NCCL_NVTX_DISABLE=1 turns NVTX off;
// FAKE_NCCL_PROFILER is the newest version of the plug-in interface (0: none). It also writes
// NCCL's log (nccl_log.h): its ranks stand in a ring and are connected as FAKE_NCCL_TRANSPORT says
// (p2p, shm, socket, ib), at the first operation, or, with FAKE_NCCL_LAZY=0, while it is made.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/fake_gpu/libraries/nccl_profiler.h"

namespace traceinject::fake {

class __attribute__((visibility("default"))) NcclCommunicator {
 public:
  using Launch = std::function<void()>;

  // `with_hash`: payloads of 2.25 and later, which begin with the communicator's commHash;
  // otherwise those of 2.24 and older, and the creation is not announced. `size` and `rank` as NCCL
  // would be told. `name` lives as long as the communicator.
  NcclCommunicator(bool with_hash, int size, int rank, int device, const char* name = nullptr);
  ~NcclCommunicator();

  // An operation that launches its kernel by itself. `launch` runs inside the range.
  void AllReduce(std::uint64_t bytes, int reduction, const Launch& launch);
  void AllGather(std::uint64_t bytes, const Launch& launch);
  void ReduceScatter(std::uint64_t bytes, int reduction, const Launch& launch);
  void Broadcast(std::uint64_t bytes, int root, const Launch& launch);
  void Reduce(std::uint64_t bytes, int root, int reduction, const Launch& launch);
  // ncclGroupStart, ncclSend, ncclRecv, ncclGroupEnd; `launch` runs inside the last.
  void Exchange(std::uint64_t bytes, int peer, const Launch& launch);

  // A group of AllReduces in one kernel.
  void Fused(const std::vector<std::uint64_t>& sizes, const Launch& launch);
  // As with a busy proxy: the plug-in is told on a thread of CUDA's.
  void Deferred(std::uint64_t bytes, const Launch& launch);
  // Into a CUDA graph, which is then replayed: no kernel, and told again on CUDA's thread.
  void Captured(std::uint64_t bytes, int replays);
  // ncclCommAbort inside a group: the operation was called and is never executed.
  void Aborted(std::uint64_t bytes);

 private:
  struct Operation {
    const char* function;  // without the "nccl" in front
    int schema;
    std::uint64_t bytes;
    int root = -1, reduction = -1, peer = -1;
  };
  enum class Teller { kLaunchingThread, kOtherThread };

  void Announce(const Operation& operation, const Launch& body);
  std::string Payload(const Operation& operation) const;
  // An operation by itself.
  void Issue(const Operation& operation, const Launch& launch,
             Teller teller = Teller::kLaunchingThread);
  void Enqueue(const Operation& operation, bool captured = false);
  void LaunchAll(const Launch& launch, Teller teller = Teller::kLaunchingThread);
  void Tell(const std::vector<NcclTask>& tasks);
  void LogBeginning() const;
  void LogEnd() const;
  void LogInit(const char* moment) const;
  void Connect();

  bool with_hash_;
  int size_, rank_, device_;
  bool connected_ = false;
  std::uint64_t hash_;
  NcclProfiler profiler_;
  std::uint64_t sequence_ = 0;
  int last_number_ = 0;
  std::vector<NcclTask> tasks_;  // of the group that is open
  void* group_of_calls_ = nullptr;
};

}  // namespace traceinject::fake
