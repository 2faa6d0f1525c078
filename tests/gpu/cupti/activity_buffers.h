// SPDX-License-Identifier: Apache-2.0
// The buffers of CUPTI's activity API, for the programs here: they come zeroed, and every record in
// one that comes back is counted.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "empty_kernel.h"

namespace activity_buffers {

constexpr std::size_t kBytes = 1 << 20;

// Held while records are counted, on a thread of CUPTI's.
inline std::mutex mutex;
inline void (*count)(const CUpti_Activity*) = nullptr;
inline decltype(cuptiActivityGetNextRecord)* next_record = nullptr;

inline void CUPTIAPI OnRequested(std::uint8_t** buffer, std::size_t* size,
                                 std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBytes));
  std::memset(*buffer, 0, kBytes);
  *size = kBytes;
  *max_records = 0;
}

inline void CUPTIAPI OnCompleted(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                                 std::size_t valid) {
  {
    const std::scoped_lock lock(mutex);
    for (CUpti_Activity* record = nullptr; next_record(buffer, valid, &record) == CUPTI_SUCCESS;)
      count(record);
  }
  std::free(buffer);
}

// Again after cuptiFinalize.
inline void Register(void* cupti, void (*counter)(const CUpti_Activity*)) {
  using empty_kernel::Find;
  count = counter;
  next_record = Find<decltype(cuptiActivityGetNextRecord)>(cupti, "cuptiActivityGetNextRecord");
  empty_kernel::Check(Find<decltype(cuptiActivityRegisterCallbacks)>(
                          cupti, "cuptiActivityRegisterCallbacks")(OnRequested, OnCompleted),
                      "cuptiActivityRegisterCallbacks");
}

}  // namespace activity_buffers
