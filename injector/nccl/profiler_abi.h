// SPDX-License-Identifier: Apache-2.0
// The profiler plug-in interface of NCCL, versions 1 to 5, as far as we use it: no installed header
// declares it.
//
// Source: github.com/NVIDIA/nccl, src/include/plugin/profiler/profiler_v1.h to profiler_v5.h and
// src/include/plugin/nccl_profiler.h (event bits); version 1 came with 2.23, 2 with 2.24, 3 with
// 2.26, 4 with 2.27, 5 with 2.28. NCCL hands descriptors over by pointer, so that members of a
// union that we never read are left out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace traceinject::nccl_abi {

// Of ncclResult_t; all that a plug-in may return without being unloaded.
inline constexpr int kSuccess = 0;

// Bits of the mask, and the type of a descriptor.
enum EventBit : std::uint64_t {
  kColl = 1 << 1,
  kP2p = 1 << 2,
  kCollApi = 1 << 9,
  kP2pApi = 1 << 10,
  kKernelLaunch = 1 << 11,
};

// ncclProfilerEventDescr_v1_t, profiler_v1.h. The enumerations are those of nccl.h and
// src/include/nccl_common.h.
struct DescriptorV1 {
  std::uint8_t type;
  void* parent;
  int rank;
  union {
    struct {
      const char* name;
      std::uint64_t communicator;
      std::uint64_t sequence;
      std::uint8_t function;
      const void* send_buffer;
      void* receive_buffer;
      std::size_t count;
      int root;
      std::uint8_t datatype;
      std::uint32_t reduction;
      std::size_t traffic_bytes;
      std::uint8_t channels;
      std::uint8_t warps;
      std::uint8_t algorithm;
      std::uint8_t protocol;
      int is_collnet;
      int is_nvls;
    } coll;
    struct {
      const char* name;
      std::uint64_t communicator;
      std::uint8_t function;
      void* buffer;
      std::uint8_t datatype;
      std::size_t count;
      int peer;
    } p2p;
  };
};
static_assert(offsetof(DescriptorV1, coll) == 24);
static_assert(offsetof(DescriptorV1, coll.count) == 72);
static_assert(offsetof(DescriptorV1, coll.reduction) == 88);
static_assert(offsetof(DescriptorV1, coll.channels) == 104);
static_assert(offsetof(DescriptorV1, coll.protocol) == 107);
static_assert(offsetof(DescriptorV1, p2p.count) == 64);
static_assert(offsetof(DescriptorV1, p2p.peer) == 72);

// ncclProfilerEventDescr_v2_t, profiler_v2.h.
struct DescriptorV2 {
  std::uint8_t type;
  void* parent;
  int rank;
  union {
    struct {
      const char* name;
      std::uint64_t communicator;
      std::uint64_t sequence;
      const char* function;
      const void* send_buffer;
      void* receive_buffer;
      std::size_t count;
      int root;
      const char* datatype;
      std::size_t traffic_bytes;
      std::uint8_t channels;
      std::uint8_t warps;
      const char* algorithm;
      const char* protocol;
    } coll;
    struct {
      const char* name;
      std::uint64_t communicator;
      const char* function;
      void* buffer;
      const char* datatype;
      std::size_t count;
      int peer;
    } p2p;
  };
};
static_assert(offsetof(DescriptorV2, coll) == 24);
static_assert(offsetof(DescriptorV2, coll.count) == 72);
static_assert(offsetof(DescriptorV2, coll.datatype) == 88);
static_assert(offsetof(DescriptorV2, coll.channels) == 104);
static_assert(offsetof(DescriptorV2, coll.protocol) == 120);
static_assert(offsetof(DescriptorV2, p2p.peer) == 72);

// ncclProfilerEventDescr_v3_t, profiler_v3.h.
struct DescriptorV3 {
  std::uint8_t type;
  void* parent;
  int rank;
  union {
    struct {
      const char* name;
      std::uint64_t communicator;
      std::uint64_t sequence;
      const char* function;
      const void* send_buffer;
      void* receive_buffer;
      std::size_t count;
      int root;
      const char* datatype;
      std::uint8_t channels;
      std::uint8_t warps;
      const char* algorithm;
      const char* protocol;
    } coll;
    struct {
      const char* name;
      std::uint64_t communicator;
      const char* function;
      void* buffer;
      const char* datatype;
      std::size_t count;
      int peer;
    } p2p;
  };
};
static_assert(offsetof(DescriptorV3, coll) == 24);
static_assert(offsetof(DescriptorV3, coll.count) == 72);
static_assert(offsetof(DescriptorV3, coll.channels) == 96);
static_assert(offsetof(DescriptorV3, coll.protocol) == 112);
static_assert(offsetof(DescriptorV3, p2p.peer) == 72);

// ncclProfilerEventDescr_v4_t, profiler_v4.h: the communicator is told to init().
struct DescriptorV4 {
  std::uint8_t type;
  void* parent;
  int rank;
  union {
    struct {
      std::uint64_t sequence;
      const char* function;
      const void* send_buffer;
      void* receive_buffer;
      std::size_t count;
      int root;
      const char* datatype;
      std::uint8_t channels;
      std::uint8_t warps;
      const char* algorithm;
      const char* protocol;
    } coll;
    struct {
      const char* function;
      void* buffer;
      const char* datatype;
      std::size_t count;
      int peer;
      std::uint8_t channels;
    } p2p;
  };
};
static_assert(offsetof(DescriptorV4, coll) == 24);
static_assert(offsetof(DescriptorV4, coll.count) == 56);
static_assert(offsetof(DescriptorV4, coll.channels) == 80);
static_assert(offsetof(DescriptorV4, coll.protocol) == 96);
static_assert(offsetof(DescriptorV4, p2p.count) == 48);
static_assert(offsetof(DescriptorV4, p2p.channels) == 60);

// ncclProfilerEventDescr_v5_t, profiler_v5.h: the parent of coll and p2p is the event of the call.
struct DescriptorV5 {
  std::uint64_t type;
  void* parent;
  int rank;
  union {
    struct {
      const char* function;
      std::size_t count;
      const char* datatype;
      int root;
      void* stream;
      bool graph_captured;
    } coll_api;
    struct {
      const char* function;
      std::size_t count;
      const char* datatype;
      void* stream;
      bool graph_captured;
    } p2p_api;
    struct {
      void* stream;
    } kernel_launch;
    struct {
      std::uint64_t sequence;
      const char* function;
      const void* send_buffer;
      void* receive_buffer;
      std::size_t count;
      int root;
      const char* datatype;
      std::uint8_t channels;
      std::uint8_t warps;
      const char* algorithm;
      const char* protocol;
      void* parent_group;
    } coll;
    struct {
      const char* function;
      void* buffer;
      const char* datatype;
      std::size_t count;
      int peer;
      std::uint8_t channels;
      void* parent_group;
    } p2p;
  };
};
static_assert(offsetof(DescriptorV5, parent) == 8);
static_assert(offsetof(DescriptorV5, coll) == 24);
static_assert(offsetof(DescriptorV5, coll.count) == 56);
static_assert(offsetof(DescriptorV5, coll.channels) == 80);
static_assert(offsetof(DescriptorV5, coll.parent_group) == 104);
static_assert(offsetof(DescriptorV5, p2p.channels) == 60);
static_assert(offsetof(DescriptorV5, coll_api.graph_captured) == 64);
static_assert(offsetof(DescriptorV5, p2p_api.graph_captured) == 56);

// ncclProfiler_v1_t to ncclProfiler_v5_t: they differ in init() and in what a descriptor is.
// ncclDebugLogger_t is never called by us.
template <typename Init, typename Descriptor>
struct Profiler {
  const char* name;
  Init* init;
  int (*start_event)(void* context, void** handle, Descriptor* descriptor);
  int (*stop_event)(void* handle);
  int (*record_event_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};
using InitV1 = int(void** context, int* mask);
using InitV4 = int(void** context, int* mask, const char* name, std::uint64_t communicator,
                   int nodes, int ranks, int rank, void* logger);
using InitV5 = int(void** context, std::uint64_t communicator, int* mask, const char* name,
                   int nodes, int ranks, int rank, void* logger);
using ProfilerV1 = Profiler<InitV1, DescriptorV1>;
using ProfilerV2 = Profiler<InitV1, DescriptorV2>;
using ProfilerV3 = Profiler<InitV1, DescriptorV3>;
using ProfilerV4 = Profiler<InitV4, DescriptorV4>;
using ProfilerV5 = Profiler<InitV5, DescriptorV5>;
static_assert(sizeof(ProfilerV1) == 48 && sizeof(ProfilerV5) == 48);

}  // namespace traceinject::nccl_abi
