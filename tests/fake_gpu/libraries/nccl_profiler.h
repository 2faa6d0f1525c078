// SPDX-License-Identifier: Apache-2.0
// How NCCL finds its profiler plug-in and what it tells it, in each version of the interface (nccl
// src/plugin/profiler.cc and plugin_open.cc, 2.23 to 2.28).
#pragma once

#include <cstddef>
#include <cstdint>

namespace traceinject::fake {

// An operation on its way from the call to the kernel.
struct NcclTask {
  const char* function = "";
  const char* datatype = "";  // as the program said
  std::size_t count = 0;      // of it
  std::size_t bytes = 0;
  int root = -1, peer = -1, reduction = -1;
  std::uint64_t sequence = 0;
  int channels = 0, warps = 0;
  const char* algorithm = "";
  const char* protocol = "";
  void* call = nullptr;  // handle of its call
  int number = 0;        // of the operation, for the truth

  bool p2p() const { return peer >= 0; }
};

struct NcclFacts {
  std::uint64_t hash = 0;
  const char* name = nullptr;
  int nodes = 1, size = 1, rank = 0;
};

// One communicator's connection to the plug-in. Does nothing where there is none.
class NcclProfiler {
 public:
  // Version of the interface that this NCCL knows at most; 0: none.
  NcclProfiler(int newest, const NcclFacts& facts);
  ~NcclProfiler();
  NcclProfiler(const NcclProfiler&) = delete;
  NcclProfiler& operator=(const NcclProfiler&) = delete;

  // Events begin; what is returned is their handle, null if the plug-in was not reported.
  void* StartGroupOfCalls();
  void* StartCall(void* group_of_calls, const NcclTask& task, bool captured);
  void* StartLaunch(void* group_of_calls);
  void* StartGroup();
  void* StartTask(void* group, const NcclTask& task);
  void Stop(void* handle);

 private:
  NcclFacts facts_;
  int version_ = 0;
  int mask_ = 0;
  void* profiler_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace traceinject::fake
