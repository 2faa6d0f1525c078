// SPDX-License-Identifier: Apache-2.0
// Tries a set of counters on the hardware in a process of its own, where a crash costs nothing:
// seen on an H200, a set of six metrics that CUPTI had accepted ended the process.
//
// How that process is made, from inside a program that uses CUDA and may have any number of
// threads:
//
//   * Not by fork, which copies locks in whatever state they are, and runs handlers of the program;
//     nor by running the program's own file again. What runs is this library itself: the dynamic
//     loader that the program runs on takes libtraceinject.so as its program and enters it at
//     traceinject_program (preload/program.cc). So nothing besides the library has to be installed,
//     and it works wherever the library does.
//   * A child of the program would send it SIGCHLD, and come out of a wait() for any child. So
//     there is a process in between, made by clone(2) with the program's memory (CLONE_VM, as a
//     thread has) and no signal at its end: wait() does not see such a one (__WCLONE). It starts
//     the trial as its own child, waits, and ends. Of our own threads only the one that asked
//     waits.
//   * Both are killed when their parent ends (PR_SET_PDEATHSIG), and the trial after 20 s.
//
// The trial sees one GPU (CUDA_VISIBLE_DEVICES), makes no context unless CUPTI wants one, and runs
// with nothing preloaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace traceinject {

struct TrialOf {
  std::string cupti;   // path of libcupti
  std::string device;  // UUID
  std::string chip;
  std::uint64_t set = 0;  // HashOf() it
  std::int64_t interval_ns = 0;
};

struct TrialResult {
  enum class Outcome {
    kPassed,
    kRefused,  // a call failed: `result` of `function`
    kCrashed,  // or hung, or gave no sample
    kUntried,  // there was no process
  };
  Outcome outcome = Outcome::kUntried;
  std::string function;  // what happened, in words, where it is no call
  int result = 0;
};

// May take seconds. `environment`: of the program.
TrialResult TrySet(const TrialOf& trial, const char* const* environment);

// The other side: the body of the process. `arguments` as TrySet() makes them. Writes one line to
// standard output; its exit code says nothing.
int RunTrial(const std::vector<std::string>& arguments);

// What a line of RunTrial() says; `ended`: as waitpid() told.
TrialResult ReadTrial(const std::string& line, int ended);

}  // namespace traceinject
