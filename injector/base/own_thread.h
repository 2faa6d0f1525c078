// SPDX-License-Identifier: Apache-2.0
// Threads of ours in the program.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace traceinject {

// What such a thread is to have of the program is what the program was started with, and not what
// the thread that starts it made of itself: a thread that pins itself to a processor, or takes a
// real-time policy, wants that for itself alone. So the processors of this moment, which is that of
// the library's constructor, are kept.
void RememberProcessors();

// Enough for SQLite and for calls into CUPTI and NVML. What the system has by default counts where
// the address space is limited, and is next to nothing under some limits.
inline constexpr std::size_t kOwnStackBytes = 2 << 20;

// A thread with all signals blocked, which are for the program's own threads, of ordinary priority
// on the processors that were remembered. `stack_bytes`: for what it does; what the program's
// thread-local data take is added. False: there is none.
bool StartOwnThread(pthread_t* thread, void* (*body)(void*), void* data,
                    std::size_t stack_bytes = kOwnStackBytes);

// Waits for its end. False: it did not come in time. Not on the clock of the day, which may be set
// back by hours meanwhile. Needs glibc 2.31.
bool JoinWithin(pthread_t thread, std::int64_t limit_ns);

}  // namespace traceinject
