// SPDX-License-Identifier: Apache-2.0
// Walks the records of a buffer that came back. CUPTI knows the sizes of its records, but a buffer
// may be cut off: what a record is read through (records.h) must lie within the valid bytes.
#pragma once

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
    default:
      return sizeof(CUpti_Activity);
  }
}

// Calls visit(CUpti_Activity*) for each record. False if the walk ended before the records did: one
// is cut off, or CUPTI did not find the next. O(records).
template <typename Visit>
bool ForEachRecord(const CuptiLibrary& cupti, std::uint8_t* buffer, std::size_t valid_bytes,
                   Visit visit) {
  CUpti_Activity* record = nullptr;
  std::size_t seen = 0;  // where the next record begins at the earliest
  for (;;) {
    const CUptiResult result = cupti.ActivityGetNextRecord(buffer, valid_bytes, &record);
    // The end of the buffer, or a record that was not completed.
    if (result == CUPTI_ERROR_MAX_LIMIT_REACHED || result == CUPTI_ERROR_INVALID_KIND) return true;
    if (!CuptiSucceeded("cuptiActivityGetNextRecord", result)) return false;
    const auto offset = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(record) - buffer);
    if (offset < seen || offset + sizeof(CUpti_Activity) > valid_bytes ||
        offset + BytesRead(record->kind) > valid_bytes)
      return false;
    seen = offset + BytesRead(record->kind);
    visit(record);
  }
}

}  // namespace traceinject
