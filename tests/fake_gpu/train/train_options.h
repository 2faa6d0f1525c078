// SPDX-License-Identifier: Apache-2.0
// What fake_train plays, from its command line.
#pragma once

#include <string>

namespace traceinject::fake {

struct TrainOptions {
  int steps = 3;       // -1: until killed
  int kernels = 10;    // a step and device
  int kernel_us = 20;  // mean; single kernels take half to one and a half times this
  int streams = 2;     // a device and thread
  int devices = 1;     // driven by each thread in turn
  int threads = 1;
  int host_us = 0;   // delay between launches
  int fetch_us = 0;  // of the host around each number that it fetches, half before and half after
  // Of the host, in percent: these two and the waits below take so many times as long.
  int pace = 100;
  int data_wait_us = 0;  // "DataLoader wait" at the beginning of each step; 0: none
  int wait_us = 0;       // the host does nothing for so long at the beginning of a step, unnamed
  int wait_every = 1;    // in every so many-th step
  int step_us = 0;       // a step takes at least this long on the host
  int graph = 0;         // nodes of a graph launched in each step; 0: none
  bool memcpy = false;   // pinned, pageable, device and blocking copies
  int pageable_mb = 0;   // copied from pageable memory, and waited for, in each step
  // So many-th steps begin with the forward work of three more, and all end with a kernel of the
  // optimizer; 0: none of this.
  int evaluate_every = 0;
  // In this step, counted from 1, the kernel of the first AllReduce, or else a last one, takes so
  // long; 0 ms: for ever.
  int stall_at = 0, stall_ms = 0;
  int sync_every = 0;  // a number is fetched and waited for after so many kernels; 0: never
  bool memset = false;
  bool peer = false;          // copies between the devices
  bool events = false;        // record, stream wait, host wait, query
  bool alloc = false;         // cudaMalloc and cudaFree in each step
  bool cluster = false;       // a launch with a cluster in each step
  bool failing_call = false;  // a call that returns an error in each step
  bool nvtx = false;
  bool leave_open = false;  // an NVTX range that is never popped
  bool extra_pop = false;   // a pop without a push
  std::string nccl;         // "new" (2.25+), "old"; empty: none
  bool nccl_more = false;   // also fused, deferred, captured and aborted operations, and a second
                            // communicator
  bool nccl_early = false;  // the first communicator is made before CUDA is used
  std::string launch =
      "runtime";  // runtime: cudaLaunchKernel, symbol13: __cudaLaunchKernel, driver: cuLaunchKernel
  std::string work = "mixed";   // names of the kernels: mixed, or of programs that could do better:
                                // fp32, attention, pointwise, gemm (by cuBLAS)
  std::string sync = "device";  // at the end of a step: device, stream, event, none

  // Steps during which another client of CUPTI records, such as "1-2,4-4", into the file that
  // FAKE_GPU_PROFILE names.
  std::string profile;
  bool profile_unseen = false;    // it finds CUPTI's functions by dlsym
  bool profile_finalize = false;  // it ends with cuptiFinalize()

  std::string set_env;     // NAME=VALUE, set by the program before it does anything else
  bool no_gpu = false;     // never touch CUDA
  bool init_only = false;  // only cuInit and a device count, as torchrun's parent does
  bool report =
      false;  // print the threads of the process and the signals that are not at their default
  std::string fork;          // before:idle, before:train, after:idle, after:exit, after:cuda
  bool exec_child = false;   // fork and exec a program that lists its descriptors, in mid-run
  bool vfork_child = false;  // vfork and fail to exec in mid-run, as a shell-less subprocess does
  bool late_launch =
      false;          // an exit handler, registered before CUDA is used, that still launches work
  int fork_loop = 0;  // this many children, forked one after the other while other threads play
  int churn = 0;      // this many short-lived threads, each with a range and a launch of its own
  int long_text = 0;  // a mark whose message has this many bytes
  bool close_range = false;  // close all descriptors above 2 in mid-run
  std::string victim;  // with close_range: files <victim>.0 ... are then opened and written to
                       // until the end
  // return, exit:N, _exit:N, quick_exit:N, thread:N (exit() beside a thread that plays on), throw,
  // abort, sigterm, wait, exec (becomes a new run)
  std::string exit = "return";
};

// False after printing what is wrong.
bool ParseTrainOptions(int argc, char** argv, TrainOptions* options);

}  // namespace traceinject::fake
