// SPDX-License-Identifier: Apache-2.0
// Activity records byte for byte as a CUPTI of a given version writes them (the structures of
// cupti_activity.h and cupti_activity_deprecated.h).
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tests/fake_gpu/simulator/activity_sink.h"

namespace traceinject::fake {

// `version`: what cuptiGetVersion returns, e.g. 24 (12.6) or 130001 (13.0 update 1).
std::vector<std::uint8_t> EncodeOperation(const Operation& operation, CUpti_ActivityKind kind,
                                          const char* name, std::uint32_t version);
std::vector<std::uint8_t> EncodeApi(const ApiRecord& record, std::uint32_t thread_id);
std::vector<std::uint8_t> EncodeSynchronization(const SynchronizationRecord& record,
                                                std::uint32_t version);
std::vector<std::uint8_t> EncodeMemory(const MemoryRecord& record, std::uint32_t version);
std::vector<std::uint8_t> EncodeStream(const StreamRecord& record);

// Size of a record of `kind`; 0 for a kind that is never written.
std::size_t RecordSize(CUpti_ActivityKind kind, std::uint32_t version);

// Replaces each time of a record.
void ConvertTimes(std::uint8_t* record, const std::function<std::uint64_t(std::uint64_t)>& convert);

// Makes a record of GPU work look as it does when its end (or even its start) is not known yet.
void MarkIncomplete(std::uint8_t* record, bool started);

}  // namespace traceinject::fake
