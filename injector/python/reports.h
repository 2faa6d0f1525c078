// SPDX-License-Identifier: Apache-2.0
// The C functions that hooks.py calls (report_functions.h, with the GIL held): they put an event
// into the calling thread's ring and return. They never block, and do nothing unless a recording
// runs in this process, so that they may be called at any time: after the recording ended, in a
// forked child, while the interpreter ends. All times are ns on CLOCK_REALTIME.
#pragma once

#include <cstdint>

namespace traceinject {

// A loader, told at the first batch of each pass. -1: unknown, or does not apply.
void ReportLoader(std::int64_t loader, std::int64_t workers, std::int64_t pin_memory,
                  std::int64_t persistent_workers, std::int64_t prefetch_factor,
                  std::int64_t batch_size);

// `loader` 0: unknown. `batch` -1: no batch came, or unknown. `samples` -1: unknown.
void ReportDataWait(std::int64_t start_ns, std::int64_t end_ns, std::int64_t loader,
                    std::int64_t batch, std::int64_t samples);

void ReportStep(std::int64_t time_ns, std::int64_t optimizer);
// Of an optimizer that is not marked, as there are too many. It is counted.
void ReportUnmarkedStep();

// `kind` as host_span.kind in run_db.sql; `detail` -1: none.
void ReportSpan(std::int64_t start_ns, std::int64_t end_ns, std::int64_t kind, std::int64_t detail);

// A worker process of a loader, told at the first batch of each pass.
void ReportWorker(std::int64_t pid, std::int64_t loader);

// A profiler that brings its own CUPTI begins (`wanted` 1), or is done. 0: ask again, there is no
// answer yet.
std::int64_t AskForRoom(std::int64_t wanted);

// The columns of attention_shape after its id; returns the number for the calls below. 0: it cannot
// be told.
std::int64_t ReportAttentionShape(std::int64_t library, std::int64_t batch, std::int64_t heads,
                                  std::int64_t kv_heads, std::int64_t query_length,
                                  std::int64_t key_length, std::int64_t head_size,
                                  std::int64_t value_head_size, std::int64_t type,
                                  std::int64_t causal);

// Whether a call now would be recorded.
bool WantsAttention();

// `direction`, `gradient` as in attention; `gradient` -1: unknown.
void ReportAttention(std::int64_t start_ns, std::int64_t end_ns, std::int64_t number,
                     std::int64_t direction, std::int64_t gradient);

// The columns of allocator_sample.
void ReportAllocator(std::int64_t time_ns, std::int64_t device, std::int64_t allocated_bytes,
                     std::int64_t reserved_bytes, std::int64_t active_bytes,
                     std::int64_t peak_allocated_bytes, std::int64_t peak_reserved_bytes,
                     std::int64_t retries, std::int64_t ooms);

}  // namespace traceinject
