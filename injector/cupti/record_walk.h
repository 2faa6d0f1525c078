// SPDX-License-Identifier: Apache-2.0
// Walks the records of a buffer that came back. CUPTI knows the sizes of its records, but a buffer
// may be cut off: what a record is read through (records.h) must lie within the valid bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "injector/cupti/errors.h"
#include "injector/cupti/library.h"
#include "injector/cupti/records.h"

namespace traceinject {

// What is read of a record of this kind.
inline std::size_t BytesRead(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      return sizeof(KernelRecord);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(MemcpyRecord);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(PeerMemcpyRecord);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(MemsetRecord);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return sizeof(MemoryRecord);
    case CUPTI_ACTIVITY_KIND_STREAM:
      return sizeof(StreamRecord);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(ApiRecord);
    // Of other clients, passed on.
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(CUpti_ActivitySynchronization);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return sizeof(CUpti_ActivityOverhead);
    default:
      return sizeof(CUpti_Activity);
  }
}

// Of a record that is `bytes` long as far as is known, what is worth a copy. Where a walk ends
// early its last record seems to go on to the end of the buffer; newer layouts only append some
// fields.
inline std::size_t BytesWorthCopying(CUpti_ActivityKind kind, std::size_t bytes) {
  constexpr std::size_t kMaxAppended = 256;
  return std::min(bytes, BytesRead(kind) + kMaxAppended);
}

// visit(record, bytes) for each record, which it may change or overwrite. `bytes` of the last one
// are those to the end of the buffer. False if the walk ended
// before the records did: one is cut off, or CUPTI did not find the next. O(records).
template <typename Visit>
bool ForEachRecord(const CuptiLibrary& cupti, std::uint8_t* buffer, std::size_t valid_bytes,
                   Visit visit) {
  // CUPTI finds the next record by the one before it: that is visited when the walk is past it.
  CUpti_Activity* record = nullptr;
  std::size_t before = 0, read = 0;  // where the one before begins, and ends at the earliest
  for (;;) {
    const bool first = record == nullptr;
    const CUptiResult result = cupti.ActivityGetNextRecord(buffer, valid_bytes, &record);
    // The end of the buffer, or a record that was not completed.
    const bool ended =
        result == CUPTI_ERROR_MAX_LIMIT_REACHED || result == CUPTI_ERROR_INVALID_KIND;
    const bool found = !ended && CuptiSucceeded("cuptiActivityGetNextRecord", result);
    const std::size_t at =
        found ? static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(record) - buffer) : 0;
    const bool past = found && at >= read && at <= valid_bytes;
    if (!first) {
      visit(reinterpret_cast<CUpti_Activity*>(buffer + before), (past ? at : valid_bytes) - before);
    }
    if (ended) return true;
    if (!past || at + sizeof(CUpti_Activity) > valid_bytes ||
        at + BytesRead(record->kind) > valid_bytes)
      return false;
    before = at;
    read = at + BytesRead(record->kind);
  }
}

}  // namespace traceinject
