// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/libraries/cupti_records.h"

#include <unistd.h>

#include <cstring>

namespace traceinject::fake {
namespace {

// First versions with the newer layout.
constexpr std::uint32_t kMemory4Version = 24;           // 12.6
constexpr std::uint32_t kMemcpy6Version = 26;           // 12.8
constexpr std::uint32_t kSynchronization2Version = 26;  // 12.8
constexpr std::uint32_t kKernel10Version = 130000;      // 13.0

// What is emitted never changes size: a wrong size would make every reader's walk go astray.
static_assert(sizeof(CUpti_ActivityKernel9) == 208 && sizeof(CUpti_ActivityKernel10) == 216);
static_assert(sizeof(CUpti_ActivityMemcpy5) == 88 && sizeof(CUpti_ActivityMemcpy6) == 96);
static_assert(sizeof(CUpti_ActivityMemcpyPtoP4) == 96 && sizeof(CUpti_ActivityMemset4) == 88);
static_assert(sizeof(CUpti_ActivityMemory3) == 120 && sizeof(CUpti_ActivityMemory4) == 128);
static_assert(sizeof(CUpti_ActivityStream) == 24);
static_assert(sizeof(CUpti_ActivityAPI) == 40);
static_assert(sizeof(CUpti_ActivitySynchronization) == 40 &&
              sizeof(CUpti_ActivitySynchronization2) == 56);

template <typename Record>
std::vector<std::uint8_t> Bytes(const Record& record) {
  std::vector<std::uint8_t> bytes(sizeof record);
  std::memcpy(bytes.data(), &record, sizeof record);
  return bytes;
}

template <typename Record>
Record Base(const Operation& operation, CUpti_ActivityKind kind) {
  Record record;
  std::memset(&record, 0, sizeof record);
  record.kind = kind;
  record.start = static_cast<std::uint64_t>(operation.start_ns);
  record.end = static_cast<std::uint64_t>(operation.end_ns);
  record.deviceId = operation.device;
  record.contextId = operation.context;
  record.streamId = operation.stream;
  record.correlationId = static_cast<std::uint32_t>(operation.correlation);
  record.graphId = operation.graph_id;
  record.graphNodeId = operation.graph_node;
  return record;
}

template <typename Record>
std::vector<std::uint8_t> Kernel(const Operation& operation, CUpti_ActivityKind kind,
                                 const char* name) {
  auto record = Base<Record>(operation, kind);
  record.completed = record.end;
  record.registersPerThread = static_cast<std::uint16_t>(operation.registers);
  record.gridX = operation.grid[0];
  record.gridY = operation.grid[1];
  record.gridZ = operation.grid[2];
  record.blockX = operation.block[0];
  record.blockY = operation.block[1];
  record.blockZ = operation.block[2];
  record.clusterX = static_cast<std::uint32_t>(operation.cluster[0]);
  record.clusterY = static_cast<std::uint32_t>(operation.cluster[1]);
  record.clusterZ = static_cast<std::uint32_t>(operation.cluster[2]);
  record.staticSharedMemory = operation.static_shared_bytes;
  record.dynamicSharedMemory = operation.dynamic_shared_bytes;
  record.localMemoryPerThread = operation.local_bytes;
  record.gridId = static_cast<std::int64_t>(operation.correlation);
  record.name = name;
  return Bytes(record);
}

template <typename Record>
Record Transfer(const Operation& operation, CUpti_ActivityKind kind) {
  auto record = Base<Record>(operation, kind);
  record.copyKind = operation.copy_kind;
  record.srcKind = operation.src_kind;
  record.dstKind = operation.dst_kind;
  record.flags = operation.async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
  record.bytes = static_cast<std::uint64_t>(operation.bytes);
  return record;
}

std::vector<std::uint8_t> Memcpy(const Operation& operation, CUpti_ActivityKind kind,
                                 std::uint32_t version) {
  if (version < kMemcpy6Version) return Bytes(Transfer<CUpti_ActivityMemcpy5>(operation, kind));
  auto record = Transfer<CUpti_ActivityMemcpy6>(operation, kind);
  record.copyCount = 1;
  return Bytes(record);
}

std::vector<std::uint8_t> PeerMemcpy(const Operation& operation, CUpti_ActivityKind kind) {
  auto record = Transfer<CUpti_ActivityMemcpyPtoP4>(operation, kind);
  record.srcDeviceId = operation.src_device;
  record.srcContextId = operation.src_device + 1;
  record.dstDeviceId = operation.dst_device;
  record.dstContextId = operation.dst_device + 1;
  return Bytes(record);
}

std::vector<std::uint8_t> Memset(const Operation& operation, CUpti_ActivityKind kind) {
  auto record = Base<CUpti_ActivityMemset4>(operation, kind);
  record.value = operation.value;
  record.bytes = static_cast<std::uint64_t>(operation.bytes);
  record.memoryKind = operation.dst_kind;
  record.flags = operation.async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0;
  return Bytes(record);
}

template <typename Record>
Record Synchronization(const SynchronizationRecord& source) {
  Record record;
  std::memset(&record, 0, sizeof record);
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = static_cast<CUpti_ActivitySynchronizationType>(source.type);
  record.start = static_cast<std::uint64_t>(source.start_ns);
  record.end = static_cast<std::uint64_t>(source.end_ns);
  record.correlationId = static_cast<std::uint32_t>(source.correlation);
  record.contextId = source.context;
  record.streamId = source.stream;
  record.cudaEventId = source.event;
  return record;
}

template <typename Record>
std::vector<std::uint8_t> MemoryBytes(const MemoryRecord& source) {
  const bool on_stream = source.stream != CUPTI_INVALID_STREAM_ID;
  Record record;
  std::memset(&record, 0, sizeof record);
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = source.release ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
                                              : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  record.memoryKind = static_cast<CUpti_ActivityMemoryKind>(source.memory_kind);
  record.correlationId = static_cast<std::uint32_t>(source.correlation);
  record.address = source.address;
  record.bytes = source.bytes;
  record.timestamp = static_cast<std::uint64_t>(source.time_ns);
  record.processId = static_cast<std::uint32_t>(getpid());
  record.deviceId = source.device;
  record.contextId = source.context;
  record.streamId = source.stream;
  record.isAsync = on_stream ? 1 : 0;
  if (on_stream) record.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  return Bytes(record);
}

}  // namespace

std::vector<std::uint8_t> EncodeOperation(const Operation& operation, CUpti_ActivityKind kind,
                                          const char* name, std::uint32_t version) {
  switch (operation.kind) {
    case OperationKind::kKernel:
      return version < kKernel10Version ? Kernel<CUpti_ActivityKernel9>(operation, kind, name)
                                        : Kernel<CUpti_ActivityKernel10>(operation, kind, name);
    case OperationKind::kMemcpy:
      return Memcpy(operation, kind, version);
    case OperationKind::kPeerMemcpy:
      return PeerMemcpy(operation, kind);
    case OperationKind::kMemset:
      return Memset(operation, kind);
  }
  return {};
}

std::vector<std::uint8_t> EncodeApi(const ApiRecord& source, std::uint32_t thread_id) {
  CUpti_ActivityAPI record;
  std::memset(&record, 0, sizeof record);
  record.kind =
      source.domain == Domain::kRuntime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER;
  record.cbid = source.cbid;
  record.start = static_cast<std::uint64_t>(source.start_ns);
  record.end = static_cast<std::uint64_t>(source.end_ns);
  record.processId = static_cast<std::uint32_t>(getpid());
  record.threadId = thread_id;
  record.correlationId = static_cast<std::uint32_t>(source.correlation);
  record.returnValue = static_cast<std::uint32_t>(source.result);
  return Bytes(record);
}

std::vector<std::uint8_t> EncodeSynchronization(const SynchronizationRecord& record,
                                                std::uint32_t version) {
  return version < kSynchronization2Version
             ? Bytes(Synchronization<CUpti_ActivitySynchronization>(record))
             : Bytes(Synchronization<CUpti_ActivitySynchronization2>(record));
}

std::vector<std::uint8_t> EncodeMemory(const MemoryRecord& record, std::uint32_t version) {
  return version < kMemory4Version ? MemoryBytes<CUpti_ActivityMemory3>(record)
                                   : MemoryBytes<CUpti_ActivityMemory4>(record);
}

std::vector<std::uint8_t> EncodeStream(const StreamRecord& source) {
  CUpti_ActivityStream record;
  std::memset(&record, 0, sizeof record);
  record.kind = CUPTI_ACTIVITY_KIND_STREAM;
  record.contextId = source.context;
  record.streamId = source.stream;
  record.priority = static_cast<std::uint32_t>(source.priority);
  record.flag = source.non_blocking ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
                                    : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
  record.correlationId = static_cast<std::uint32_t>(source.correlation);
  return Bytes(record);
}

std::size_t RecordSize(CUpti_ActivityKind kind, std::uint32_t version) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return version < kKernel10Version ? sizeof(CUpti_ActivityKernel9)
                                        : sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return version < kMemcpy6Version ? sizeof(CUpti_ActivityMemcpy5)
                                       : sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return version < kSynchronization2Version ? sizeof(CUpti_ActivitySynchronization)
                                                : sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return version < kMemory4Version ? sizeof(CUpti_ActivityMemory3)
                                       : sizeof(CUpti_ActivityMemory4);
    case CUPTI_ACTIVITY_KIND_STREAM:
      return sizeof(CUpti_ActivityStream);
    default:
      return 0;
  }
}

void ConvertTimes(std::uint8_t* record,
                  const std::function<std::uint64_t(std::uint64_t)>& convert) {
  const auto at = [&](std::size_t offset) {
    std::uint64_t time = 0;
    std::memcpy(&time, record + offset, sizeof time);
    time = convert(time);
    std::memcpy(record + offset, &time, sizeof time);
  };
  switch (reinterpret_cast<const CUpti_Activity*>(record)->kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      at(offsetof(CUpti_ActivityAPI, start));
      at(offsetof(CUpti_ActivityAPI, end));
      break;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      at(offsetof(CUpti_ActivitySynchronization, start));
      at(offsetof(CUpti_ActivitySynchronization, end));
      break;
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      at(offsetof(CUpti_ActivityMemory3, timestamp));
      break;
    case CUPTI_ACTIVITY_KIND_STREAM:
      break;
    default:
      at(offsetof(CUpti_ActivityKernel9, start));
      at(offsetof(CUpti_ActivityKernel9, end));
  }
}

void MarkIncomplete(std::uint8_t* record, bool started) {
  // start and end lie at the same place in all records of GPU work.
  static_assert(offsetof(CUpti_ActivityKernel9, start) == 16 &&
                offsetof(CUpti_ActivityMemcpy5, start) == 16 &&
                offsetof(CUpti_ActivityMemcpyPtoP4, start) == 16 &&
                offsetof(CUpti_ActivityMemset4, start) == 16);
  if (!started) std::memset(record + 16, 0, 8);
  std::memset(record + 24, 0, 8);
}

}  // namespace traceinject::fake
