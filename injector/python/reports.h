// SPDX-License-Identifier: Apache-2.0
// The C functions that hooks.py calls (through ctypes, with the GIL held): they put an event into
// the calling thread's ring and return. They never block, and do nothing unless a recording runs in
// this process, so that they may be called at any time: after the recording ended, in a forked
// child, while the interpreter ends. All times are ns on CLOCK_REALTIME.
#pragma once

#include <cstdint>

namespace traceinject {

// A loader, told at the first batch of each pass. -1: unknown, or does not apply.
void ReportLoader(std::int64_t loader, std::int64_t workers, std::int64_t pin_memory,
                  std::int64_t persistent_workers, std::int64_t prefetch_factor,
                  std::int64_t batch_size);

// `loader` 0: unknown. `batch` -1: no batch came, or unknown.
void ReportDataWait(std::int64_t start_ns, std::int64_t end_ns, std::int64_t loader,
                    std::int64_t batch);

void ReportStep(std::int64_t time_ns, std::int64_t optimizer);

// `kind` as host_span.kind in run_db.sql; `detail` -1: none.
void ReportSpan(std::int64_t start_ns, std::int64_t end_ns, std::int64_t kind, std::int64_t detail);

// A worker process of a loader, told at the first batch of each pass.
void ReportWorker(std::int64_t pid, std::int64_t loader);

}  // namespace traceinject
