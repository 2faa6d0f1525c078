// SPDX-License-Identifier: Apache-2.0
// The recording of this process: starts in InitializeInjection, runs as one writer thread, ends at
// exit.
#pragma once

namespace traceinject {

// cuInit calls us (through InitializeInjection) on the thread that initializes CUDA: binds CUPTI,
// enables the kinds and starts the writer thread. On failure nothing is recorded and the reason is
// kept until the GPU is used. Never throws; runs once a process.
void StartRecording();

// Flushes, closes the file and stops, waiting at most `limit_ms`. Called on exit paths, from the
// process that started only; later calls do nothing.
void FinishRecording(long limit_ms);

// Programs that leave by _exit (os._exit, a forked worker's end) or quick_exit are in a hurry.
inline constexpr long kHurryMs = 2000;

// Longest wait that the options allow at a normal exit.
long ExitLimitMs();

// Whether the wrappers should emit events. In a process whose injection slot belongs to another
// tool, the first call that shows GPU work leaves a file that says so.
bool SyncWanted();

}  // namespace traceinject
