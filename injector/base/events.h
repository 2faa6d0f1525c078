// SPDX-License-Identifier: Apache-2.0
// The events in the rings, as the producers write them and the writer thread reads them. Sizes are
// multiples of 8; variable-length text and payload bytes follow the fixed part.
#pragma once

#include <cstdint>

#include "injector/base/ring.h"

namespace traceinject {

enum class EventType : std::uint16_t {
  kPadding = 0,
  kNvtxPush,
  kNvtxPop,
  kNvtxStart,
  kNvtxEnd,
  kNvtxMark,
  kNvtxNameCategory,
  kNvtxNameThread,
  kNvtxNameStream,
  kNvtxNameDevice,
  kSync,
  // From hooks.py, see PythonEvent.
  kDataLoader,
  kDataWait,
  kStepMark,
  kHostSpan,
  kGemm,
  // From NCCL's profiler plug-in interface.
  kNcclInit,
  kNcclCall,
  kNcclCallEnd,
  kNcclLaunch,
  kNcclLaunchEnd,
  kNcclOperation,
  kWorker,
  kAttention,
  kAllocatorSample,
  kStack,
  kNativeStack,
};

// An NVTX domain or registered string: what the handles given to programs point to. Never freed;
// domains of one name are one.
struct NvtxName {
  std::uint32_t id;  // dense, from 1, within its kind
  bool is_nccl;      // a domain named NCCL
  const char* text;  // UTF-8
};

enum class NvtxPayloadType : std::uint8_t { kNone, kUnsigned, kSigned, kReal, kExtended };

// Flag of an NVTX event: pushes or pops of this thread were dropped just before it.
inline constexpr std::uint16_t kNvtxAfterLoss = 1;

// Followed by text_bytes of text (only when `registered` is null) and payload_bytes of the first
// extended payload.
struct NvtxEvent {
  EventHeader header;
  const NvtxName* domain;      // null: the default domain
  const NvtxName* registered;  // message as a registered string; null: inline text, or none
  // Range id of start and end; of the naming events the thread id, category number, context id <<
  // 32 | stream id (as CUPTI numbers them), or CUDA ordinal.
  std::uint64_t id;
  std::uint64_t payload;  // bits of an integer or double; schema id of an extended payload
  std::uint32_t color;
  std::uint32_t category;
  std::uint16_t text_bytes;
  std::uint16_t payload_bytes;
  NvtxPayloadType payload_type;
  std::uint8_t has_text;
  std::uint8_t has_color;
  std::uint8_t reserved;

  const char* text() const { return reinterpret_cast<const char*>(this + 1); }
  const std::uint8_t* payload_data() const {
    return reinterpret_cast<const std::uint8_t*>(this + 1) + (text_bytes + 7) / 8 * 8;
  }
};
static_assert(sizeof(NvtxEvent) % 8 == 0);

// sync.kind
enum class SyncKind : std::uint16_t {
  kEventRecord = 1,
  kStreamWaitsEvent,
  kHostWaitsEvent,
  kHostWaitsStream,
  kHostWaitsDevice  // no row of sync: there is no handle that the call's row of api lacks
};

struct SyncEvent {
  EventHeader header;  // flags: SyncKind
  std::int64_t end_ns;
  std::uint64_t event;                    // handle; 0: none
  std::uint32_t device, context, stream;  // as CUPTI numbers them
  std::uint32_t has_stream;
};
static_assert(sizeof(SyncEvent) % 8 == 0);

// What the script in the program's interpreter reports; times are 0 for a loader.
//   kDataLoader  number, workers, pin_memory, persistent_workers, prefetch_factor, batch_size
//                (-1: unknown, or does not apply)
//   kDataWait    number of the loader (0: unknown), index of the batch (-1: none), samples in it
//                (-1: unknown)
//   kStepMark    number of the optimizer
//   kHostSpan    host_span.kind, host_span.detail (-1: none)
//   kWorker      process id, number of the loader it works for
//   kAttention   number of the shape (g_attention_shapes), attention.direction, attention.gradient
//                (-1: unknown)
//   kAllocatorSample  the columns of allocator_sample after the time
struct PythonEvent {
  static constexpr std::size_t kMaxValues = 8;
  EventHeader header;
  std::int64_t end_ns;
  std::int64_t values[kMaxValues];  // as many as the type has; the event ends with the last
};
static_assert(sizeof(PythonEvent) % 8 == 0);

// A GEMM or a convolution as the program asked for it: the columns of gemm and gemm_shape in
// run_db.sql.
struct GemmEvent {
  EventHeader header;
  std::int64_t end_ns;
  const char* function;  // of cuBLAS, cuBLASLt or cuDNN; never freed
  std::int64_t m, n, k, batch;
  std::int16_t type_a, type_b, type_c, compute_type;  // -1: unknown
  std::int32_t trans_a, trans_b;
  std::int64_t least_bytes;  // -1: of matrices
};
static_assert(sizeof(GemmEvent) % 8 == 0);

// A word of NCCL's: function, datatype, algorithm or protocol. Longer ones are clipped; ends with a
// zero.
using NcclWord = char[16];

// kNcclInit: a communicator, from version 4 of the interface on.
struct NcclInitEvent {
  EventHeader header;
  std::uint64_t communicator;  // hash
  std::int32_t nodes, ranks, rank;
  std::uint32_t name_bytes;
  char name[64];  // the user's own, clipped
};
static_assert(sizeof(NcclInitEvent) % 8 == 0);

// kNcclCall: the program's call, from version 5 on. Ids are unique in the process.
struct NcclCallEvent {
  EventHeader header;
  std::uint64_t id;
  std::uint64_t group;  // id of the group of calls that it is in
  std::uint64_t communicator;
  std::int64_t count;
  std::int32_t root;
  std::int32_t captured;  // 1: into a CUDA graph
  NcclWord function, datatype;
};
static_assert(sizeof(NcclCallEvent) % 8 == 0);

// kNcclLaunch: a kernel is about to be launched, from version 5 on.
struct NcclLaunchEvent {
  EventHeader header;
  std::uint64_t id, group, communicator;
};
static_assert(sizeof(NcclLaunchEvent) % 8 == 0);

// kNcclCallEnd, kNcclLaunchEnd.
struct NcclEndEvent {
  EventHeader header;
  std::uint64_t id;
};
static_assert(sizeof(NcclEndEvent) % 8 == 0);

// kNcclOperation: how an operation is executed, told once its kernel is launched. Words that the
// interface does not report are empty, numbers are -1.
struct NcclOperationEvent {
  EventHeader header;  // flags: version of the interface
  std::uint64_t call;  // id of its call; 0: before version 5
  std::uint64_t communicator;
  std::int64_t sequence, count;
  std::int32_t root, peer, reduction, channels, warps;
  std::int32_t reserved;
  NcclWord function, datatype, algorithm, protocol;
};
static_assert(sizeof(NcclOperationEvent) % 8 == 0);

// A frame of Python's, and what tells its code object from a later one at the same address.
struct StackEventFrame {
  std::uint64_t code;
  std::uint64_t first_local;  // address of its first argument
  std::int32_t offset;        // of the instruction, in bytes
  std::uint32_t check;
};
// kStack: the thread's own stack at a call, the innermost frame first.
struct StackEvent {
  EventHeader header;  // flags: stack_sample.kind
  std::int64_t end_ns;
  std::uint32_t count, is_cut;

  StackEventFrame* frames() { return reinterpret_cast<StackEventFrame*>(this + 1); }
  const StackEventFrame* frames() const {
    return reinterpret_cast<const StackEventFrame*>(this + 1);
  }
};
static_assert(sizeof(StackEvent) % 8 == 0 && sizeof(StackEventFrame) % 8 == 0);

// kNativeStack: where a thread stood in its code at a call, to be unwound later: the registers that
// calls preserve, and its stack as it was, from the stack pointer on.
struct NativeStackEvent {
  static constexpr std::size_t kRegisters = 8;  // kCopiedRegisters has which

  EventHeader header;  // flags: stack_sample.kind
  std::int64_t end_ns;
  std::uint64_t registers[kRegisters];
  std::uint64_t bytes;  // that follow

  const char* stack() const { return reinterpret_cast<const char*>(this + 1); }
  char* stack() { return reinterpret_cast<char*>(this + 1); }
};
static_assert(sizeof(NativeStackEvent) % 8 == 0);

inline constexpr std::size_t kMaxNvtxText =
    1024;  // bytes of a message; longer ones are clipped and counted
inline constexpr std::size_t kMaxNvtxPayload = 256;  // bytes of an extended payload, likewise

}  // namespace traceinject
