// SPDX-License-Identifier: Apache-2.0
// How the fake libcupti, which may be loaded late or never, learns what the driver does. All calls
// come on the program's threads.
#pragma once

#include <cstdint>
#include <optional>

#include "tests/fake_gpu/simulator/simulator.h"

namespace traceinject::fake {

enum class Domain { kRuntime = 1, kDriver = 2 };

struct CallId {
  Domain domain = Domain::kRuntime;
  std::uint32_t cbid = 0;
};

struct ApiRecord {
  Domain domain = Domain::kRuntime;
  std::uint32_t cbid = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint64_t correlation = 0;
  int result = 0;
  std::optional<CallId> outer;  // that it was made in
};

// CUpti_ActivitySynchronizationType.
enum class SynchronizationType { kEvent = 1, kStreamWaitsEvent = 2, kStream = 3, kContext = 4 };

struct SynchronizationRecord {
  SynchronizationType type = SynchronizationType::kStream;
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint64_t correlation = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = ~0u;  // ~0: does not apply
  std::uint32_t event = ~0u;
};

struct MemoryRecord {
  bool release = false;
  std::uint8_t memory_kind = 0;  // CUpti_ActivityMemoryKind
  std::uint64_t bytes = 0, address = 0;
  std::int64_t time_ns = 0;
  std::uint32_t device = 0, context = 0;
  std::uint32_t stream = ~0u;  // ~0: not in the order of a stream, and from no pool
  std::uint64_t correlation = 0;
};

struct StreamRecord {
  std::uint32_t context = 0, stream = 0;
  std::int32_t priority = 0;
  bool non_blocking = false;
  std::uint64_t correlation = 0;
};

class ActivitySink {
 public:
  virtual void OnInitialized() = 0;  // cuInit ends
  // Whether a call would be told, were it made in no other.
  virtual bool IsTold(CallId call) const = 0;
  virtual void OnOperation(const Operation& operation) = 0;
  virtual void OnApi(const ApiRecord& record) = 0;
  virtual void OnSynchronization(const SynchronizationRecord& record) = 0;
  virtual void OnMemory(const MemoryRecord& record) = 0;
  virtual void OnStream(const StreamRecord& record) = 0;

 protected:
  ~ActivitySink() = default;
};

// The driver tells one: of two copies of libcupti in a process, the one that was first, for good,
// also after its cuptiFinalize. False: another one has the place.
bool TakeActivitySink(ActivitySink* sink);
ActivitySink* GetActivitySink();  // null: none

}  // namespace traceinject::fake
