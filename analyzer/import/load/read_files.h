// SPDX-License-Identifier: Apache-2.0
// Reads many files on several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/common/stop_flag.h"
#include "analyzer/import/source/recorded_file.h"

namespace traceinject {

struct LoadProgress {
  double share = 0;  // 0..1 of the work
  std::size_t files_done = 0, files = 0;
  std::uint64_t rows = 0;  // event rows read
};

// A recording of ours or a trace of PyTorch's profiler. `part`: as in ReadRunDb; such traces are
// read as a whole. No memory to hold it is an error like others.
Result<RecordedFile> ReadRecording(const std::string& path, ReadProgress& progress,
                                   const ReadPart& part = {});

// Whether it is the trace of another profiler, by its content.
bool IsTrace(const std::string& path);

// The trace of another profiler, as it was recorded (Repairs::kLeftOut). A recording of ours is an
// error.
Result<RecordedFile> ReadTrace(const std::string& path, ReadProgress& progress);

// What is left to say where none of the files could be read. `errors`: at least one.
Error NoneCouldBeRead(const std::vector<std::string>& errors);

struct ReadOptions {
  unsigned threads = 0;     // 0: one a CPU
  StopFlag stop = nullptr;  // what runs is told to give up, and nothing else begins
  // Called from the calling thread, about ten times a second; may be empty.
  std::function<void(const LoadProgress&)> on_progress = {};
  // Bytes that each file will take while it is read, as `read` of all files; empty: not known.
  std::vector<std::uint64_t> needs = {};
  // Files are held back while those being read take more; one alone is always read. 0: no limit.
  std::uint64_t most_bytes = 0;
};

// Calls read(index, progress) for `files` files, each once, in order, on threads of its own;
// returns once all were read. Of those that were not begun because of `stop` nothing is said.
void ReadFiles(std::size_t files, const ReadOptions& options,
               const std::function<void(std::size_t, ReadProgress&)>& read);

}  // namespace traceinject
