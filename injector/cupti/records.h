// SPDX-License-Identifier: Apache-2.0
// The activity records that are read, for CUPTI 12.0 to 13.x.
//
// Each newer layout only appends fields to the one before it, and a library always emits its
// newest. So records are read through the newest structure that the fields we need occur in, which
// is the oldest one that every supported library emits; cuptiActivityGetNextRecord of the loaded
// library knows the true sizes. The offsets below are the ABI; they are the same in the 12.0, 12.6
// and 13.0 headers.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

namespace traceinject {

using KernelRecord =
    CUpti_ActivityKernel9;  // emitted since 12.0; 13.0 emits Kernel10, a longer one
using MemcpyRecord = CUpti_ActivityMemcpy5;  // 12.8 emits Memcpy6
using PeerMemcpyRecord = CUpti_ActivityMemcpyPtoP4;
using MemsetRecord = CUpti_ActivityMemset4;
using MemoryRecord = CUpti_ActivityMemory3;  // 12.6 emits Memory4
using StreamRecord = CUpti_ActivityStream;
using ApiRecord = CUpti_ActivityAPI;

// Of two correlation ids, which wrap, and of which 0 is none.
inline std::uint32_t LaterCorrelation(std::uint32_t one, std::uint32_t other) {
  return one == 0 || static_cast<std::int32_t>(other - one) > 0 ? other : one;
}

#define TRACEINJECT_OFFSET(type, field, offset) \
  static_assert(offsetof(type, field) == (offset), #type "." #field)
TRACEINJECT_OFFSET(KernelRecord, registersPerThread, 6);
TRACEINJECT_OFFSET(KernelRecord, start, 16);
TRACEINJECT_OFFSET(KernelRecord, end, 24);
TRACEINJECT_OFFSET(KernelRecord, deviceId, 40);
TRACEINJECT_OFFSET(KernelRecord, contextId, 44);
TRACEINJECT_OFFSET(KernelRecord, streamId, 48);
TRACEINJECT_OFFSET(KernelRecord, gridX, 52);
TRACEINJECT_OFFSET(KernelRecord, blockX, 64);
TRACEINJECT_OFFSET(KernelRecord, staticSharedMemory, 76);
TRACEINJECT_OFFSET(KernelRecord, dynamicSharedMemory, 80);
TRACEINJECT_OFFSET(KernelRecord, localMemoryPerThread, 84);
TRACEINJECT_OFFSET(KernelRecord, correlationId, 92);
TRACEINJECT_OFFSET(KernelRecord, name, 104);
TRACEINJECT_OFFSET(KernelRecord, graphNodeId, 144);
TRACEINJECT_OFFSET(KernelRecord, graphId, 156);
TRACEINJECT_OFFSET(KernelRecord, clusterX, 176);
TRACEINJECT_OFFSET(MemcpyRecord, copyKind, 4);
TRACEINJECT_OFFSET(MemcpyRecord, flags, 7);
TRACEINJECT_OFFSET(MemcpyRecord, bytes, 8);
TRACEINJECT_OFFSET(MemcpyRecord, start, 16);
TRACEINJECT_OFFSET(MemcpyRecord, deviceId, 32);
TRACEINJECT_OFFSET(MemcpyRecord, correlationId, 44);
TRACEINJECT_OFFSET(MemcpyRecord, graphNodeId, 64);
TRACEINJECT_OFFSET(MemcpyRecord, graphId, 72);
TRACEINJECT_OFFSET(PeerMemcpyRecord, bytes, 8);
TRACEINJECT_OFFSET(PeerMemcpyRecord, start, 16);
TRACEINJECT_OFFSET(PeerMemcpyRecord, deviceId, 32);
TRACEINJECT_OFFSET(PeerMemcpyRecord, srcDeviceId, 44);
TRACEINJECT_OFFSET(PeerMemcpyRecord, dstDeviceId, 52);
TRACEINJECT_OFFSET(PeerMemcpyRecord, correlationId, 60);
TRACEINJECT_OFFSET(PeerMemcpyRecord, graphNodeId, 72);
TRACEINJECT_OFFSET(PeerMemcpyRecord, graphId, 80);
TRACEINJECT_OFFSET(MemsetRecord, value, 4);
TRACEINJECT_OFFSET(MemsetRecord, bytes, 8);
TRACEINJECT_OFFSET(MemsetRecord, start, 16);
TRACEINJECT_OFFSET(MemsetRecord, deviceId, 32);
TRACEINJECT_OFFSET(MemsetRecord, correlationId, 44);
TRACEINJECT_OFFSET(MemsetRecord, memoryKind, 50);
TRACEINJECT_OFFSET(MemsetRecord, graphNodeId, 64);
TRACEINJECT_OFFSET(MemsetRecord, graphId, 72);
TRACEINJECT_OFFSET(MemoryRecord, memoryOperationType, 4);
TRACEINJECT_OFFSET(MemoryRecord, memoryKind, 8);
TRACEINJECT_OFFSET(MemoryRecord, correlationId, 12);
TRACEINJECT_OFFSET(MemoryRecord, address, 16);
TRACEINJECT_OFFSET(MemoryRecord, bytes, 24);
TRACEINJECT_OFFSET(MemoryRecord, timestamp, 32);
TRACEINJECT_OFFSET(MemoryRecord, deviceId, 52);
TRACEINJECT_OFFSET(MemoryRecord, contextId, 56);
TRACEINJECT_OFFSET(MemoryRecord, streamId, 60);
TRACEINJECT_OFFSET(MemoryRecord, isAsync, 72);
TRACEINJECT_OFFSET(MemoryRecord, memoryPoolConfig, 80);
TRACEINJECT_OFFSET(StreamRecord, contextId, 4);
TRACEINJECT_OFFSET(StreamRecord, streamId, 8);
TRACEINJECT_OFFSET(StreamRecord, priority, 12);
TRACEINJECT_OFFSET(StreamRecord, flag, 16);
TRACEINJECT_OFFSET(ApiRecord, cbid, 4);
TRACEINJECT_OFFSET(ApiRecord, start, 8);
TRACEINJECT_OFFSET(ApiRecord, end, 16);
TRACEINJECT_OFFSET(ApiRecord, threadId, 28);
TRACEINJECT_OFFSET(ApiRecord, correlationId, 32);
TRACEINJECT_OFFSET(ApiRecord, returnValue, 36);
#undef TRACEINJECT_OFFSET
static_assert(sizeof(KernelRecord) == 208 && sizeof(MemcpyRecord) == 88 &&
              sizeof(PeerMemcpyRecord) == 96 && sizeof(MemsetRecord) == 88 &&
              sizeof(MemoryRecord) == 120 && sizeof(StreamRecord) == 24 && sizeof(ApiRecord) == 40);

}  // namespace traceinject
