// SPDX-License-Identifier: Apache-2.0
// The simulated GPUs: contexts, streams, events, memory, and the operations that run on them.
//
// A stream runs its operations in order, and every duration is known when an operation is
// submitted, so its interval is computed then: it starts at max(submission + latency, end of the
// stream's previous operation, events waited for). Nothing runs in the background; who must wait
// for the GPU sleeps until the computed time. Times are ns on CLOCK_REALTIME, intervals [start,
// end).
//
// Errors are CUresult numbers, which equal those of cudaError_t for all that are used here; 0 is
// success.
#pragma once

#include <cstdint>
#include <string>

#include "tests/fake_gpu/simulator/program.h"

namespace traceinject::fake {

inline constexpr int kSuccess = 0;
inline constexpr int kInvalidValue = 1;
inline constexpr int kNotInitialized = 3;
inline constexpr int kInvalidFunction = 98;
inline constexpr int kInvalidDevice = 101;
inline constexpr int kInvalidContext = 201;
inline constexpr int kInvalidHandle = 400;
inline constexpr int kNotReady = 600;

struct Stream {
  std::uint32_t id = 0;  // as CUPTI numbers it: unique in the context
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::int64_t tail_ns = 0;  // nothing that is submitted now starts before this
};

struct Context {
  std::uint32_t id = 0;
  std::uint32_t device = 0;
  bool active = false;
  Stream default_stream;
};

struct Event {
  std::uint32_t number = 0;  // dense, one for each creation
  std::int64_t time_ns = 0;  // when the last recorded event fires
};

enum class OperationKind { kKernel, kMemcpy, kPeerMemcpy, kMemset };

// One piece of GPU work; fields that do not apply to its kind stay 0.
struct Operation {
  OperationKind kind = OperationKind::kKernel;
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t device = 0, context = 0, stream = 0;
  std::uint64_t correlation = 0;
  std::uint32_t graph_id = 0;
  std::uint64_t graph_node = 0;

  const char* name = nullptr;  // kernels; lives as long as the process
  std::int32_t grid[3] = {}, block[3] = {}, cluster[3] = {};
  std::int32_t registers = 0, static_shared_bytes = 0, dynamic_shared_bytes = 0;
  std::uint32_t local_bytes = 0;

  std::int64_t bytes = 0;
  std::uint8_t copy_kind = 0;               // CUpti_ActivityMemcpyKind
  std::uint8_t src_kind = 0, dst_kind = 0;  // CUpti_ActivityMemoryKind
  bool async = false;
  std::uint32_t src_device = 0, dst_device = 0;  // peer copies
  std::uint32_t value = 0;                       // memset
};

// Starts the driver: loads the library that CUDA_INJECTION64_PATH names and calls its
// InitializeInjection, once a process, on the calling thread, as libcuda does. Calls made from
// inside it, and any call in a child that was forked after it, fail with kNotInitialized.
int Initialize();
// kSuccess when this process has initialized the driver.
int RequireInitialized();

int DeviceCount();
std::string DeviceName();
// Of 16 of a device's UUID. FAKE_GPU_UUID: a number of 16 bits that makes cards others.
std::uint8_t UuidByte(int device, int index);

// Null for an ordinal that is no device. The first use activates it.
Context* PrimaryContext(int device);
bool PrimaryContextActive(int device);
// Of the calling thread. Null: none.
Context* CurrentContext();
void SetCurrentContext(Context* context);

struct StreamSettings {
  std::int32_t priority = 0;
  bool non_blocking = false;
};
Stream* CreateStream(Context* context, const StreamSettings& settings);
// The stream that a handle means in the current context: null and the two special handles mean the
// default stream.
Stream* ResolveStream(const void* handle);

Event* CreateEvent();
void RecordEvent(Event* event, Stream* stream);
void WaitForEvent(Stream* stream, const Event* event);
std::int64_t EventTime(const Event* event);
std::int64_t StreamTail(const Stream* stream);
std::int64_t ContextTail(const Context* context);

// Memory has addresses but no content. Kinds are CUpti_ActivityMemoryKind.
// With a stream: from its memory pool, in its order.
void* Allocate(std::uint64_t bytes, std::uint8_t memory_kind, const Context& context,
               const Stream* stream = nullptr);
bool Free(void* address, const Stream* stream = nullptr);
struct Memory {
  std::uint8_t kind = 1;  // an address that was never allocated here is pageable host memory
  std::uint32_t device = 0;
};
Memory MemoryAt(const void* address);

// Computes the interval of `operation` on `stream`, fills in where it runs and the correlation id
// of the API call in progress, and tells the truth file and the activity sink. Returns its end.
std::int64_t Submit(Stream* stream, Operation operation, std::int64_t duration_ns);

// How long a copy of `bytes` takes.
std::int64_t CopyDuration(std::int64_t bytes, std::uint8_t src_kind, std::uint8_t dst_kind);

}  // namespace traceinject::fake
