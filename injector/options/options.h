// SPDX-License-Identifier: Apache-2.0
// The options of the injector: environment variables, all in one table (kOptions in options.cc)
// from which parsing, validation, the listing in the log and the table in docs/options.md are made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "injector/options/try_list.h"
#include "injector/options/window_plan.h"

namespace traceinject {

struct Options {
  bool enabled = true;
  std::string output = "run.db";
  std::string spool;               // folder in which the file is written first; empty: none
  std::vector<std::string> kinds;  // activity kinds by name, see injector/cupti/activity_kinds.h
  bool all_memsets = false;        // also many short ones (injector/cupti/memset_limit.h)
  bool nvtx = true;
  bool nccl = true;
  bool nccl_log = false;
  bool sync = true;
  bool gemm = true;
  bool python = true;
  std::int64_t telemetry_hz = 0;  // samples of a device a second; 0: no samples at all
  std::string counters = "0";     // of the GPU's hardware: 0, auto, 1 or the name of a set
  std::int64_t counters_us = 0;   // between their samples; 0: chosen by the window
  std::int64_t stacks_hz = 0;     // samples of each thread's Python stack a second; 0: no stacks
  std::int64_t max_size_bytes = 0;
  bool keep_last = false;         // old rows give way to new ones
  std::int64_t keep_last_ns = 0;  // with keep_last: those older than this; 0: only for lack of room
  WindowPlan window;              // what part of the run
  bool detach = false;            // between windows, CUPTI is left
  std::int64_t ab_steps = 0;      // blocks of so many steps are recorded alternately; 0: no
  std::int64_t stall_ns = 0;      // nothing completes for so long: a stall; 0: none is looked for
  std::int64_t flush_ms = 0;
  std::int64_t buffer_bytes = 0;  // all CUPTI buffers together
  std::int64_t exit_ms = 0;       // longest wait for the last flush at exit
  std::string cupti;              // path of libcupti; empty: search
  std::string log;                // path; empty: no log
  std::vector<TryWish> tries;     // changes to the program (schemas/try_levers.h)

  // Filled while parsing.
  std::vector<std::string> unknown;  // TRACEINJECT_ variables that are no options
  std::vector<std::string>
      invalid;  // sentences about values that were not understood: the default is used
  struct Changed {
    std::string name, value;
  };
  std::vector<Changed> changed;  // options that are not at their default
};

// A file that keeps the last part of a run has to hold some flushes.
inline constexpr std::int64_t kMinKeptBytes = 16 << 20;

// What a table row says about an option.
struct OptionInfo {
  std::string_view name;  // with the prefix TRACEINJECT
  std::string_view default_value;
  std::string_view help;
};

// All options, in the order of the table.
std::vector<OptionInfo> ListOptions();

// What the option takes, in words, where `value` is no value of it; else empty.
std::string_view ExpectedInstead(std::string_view name, std::string_view value);

// Reads the options from an environment block (as `environ`). Never fails: a bad value is reported
// and replaced by the default.
Options ParseOptions(const char* const* environment);

// Whether the environment switches the option `name` off. For places where no options were read
// yet; allocates nothing.
bool IsSwitchedOff(const char* name);
// The same for an option that is off by default.
bool IsSwitchedOn(const char* name);

// Bytes of "4G", "512K", "100M", "12345" (powers of 1024). False if the text is no size.
bool ParseSize(std::string_view text, std::int64_t* bytes);

}  // namespace traceinject
