// SPDX-License-Identifier: Apache-2.0
#include "injector/options/options.h"

#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "injector/options/activity_kind_names.h"
#include "injector/options/duration.h"
#include "schemas/counters.h"

namespace traceinject {
namespace {

constexpr std::string_view kPrefix = "TRACEINJECT";

bool ParseInteger(std::string_view text, std::int64_t* value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

bool ParseSwitch(std::string_view text, bool* value) {
  if (text == "1" || text == "on" || text == "true" || text == "yes") return *value = true, true;
  if (text == "0" || text == "off" || text == "false" || text == "no") return *value = false, true;
  return false;
}

bool ParseKinds(std::string_view text, std::vector<std::string>* kinds) {
  std::vector<std::string> found;
  while (!text.empty()) {
    std::size_t comma = std::min(text.find(','), text.size());
    std::string_view name = text.substr(0, comma);
    if (std::find(std::begin(kActivityKindNames), std::end(kActivityKindNames), name) ==
        std::end(kActivityKindNames))
      return false;
    found.emplace_back(name);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  *kinds = std::move(found);
  return true;
}

// A parser returns false if the text is no value of the option; the member then keeps its default.
struct OptionRow {
  OptionInfo info;
  std::string_view expected;
  bool (*parse)(std::string_view text, Options* options);
};

template <bool Options::*member>
bool Switch(std::string_view text, Options* options) {
  return ParseSwitch(text, &(options->*member));
}

template <std::int64_t Options::*member, std::int64_t least, std::int64_t most = INT64_MAX>
bool Integer(std::string_view text, Options* options) {
  std::int64_t value = 0;
  if (!ParseInteger(text, &value) || value < least || value > most) return false;
  return options->*member = value, true;
}

template <std::int64_t Options::*member, std::int64_t least>
bool Size(std::string_view text, Options* options) {
  std::int64_t value = 0;
  if (!ParseSize(text, &value) || value < least) return false;
  return options->*member = value, true;
}

template <std::string Options::*member>
bool Text(std::string_view text, Options* options) {
  return options->*member = std::string(text), true;
}

// Also a switch: a recorder that keeps what the file holds has no time to name.
bool KeepLast(std::string_view text, Options* options) {
  std::int64_t kept = 0;
  if (ParseSwitch(text, &options->keep_last)) return options->keep_last_ns = 0, true;
  if (!ParseDuration(text, &kept) || kept < 1'000'000'000) return false;
  options->keep_last = true;
  return options->keep_last_ns = kept, true;
}

// Without a number, as many as show a difference of a hundredth in a run of some minutes.
bool Ab(std::string_view text, Options* options) {
  constexpr std::string_view kSteps = "steps";
  constexpr std::int64_t kUsual = 20, kMin = 5, kMax = 1'000'000;
  if (text == "0") return options->ab_steps = 0, true;
  if (text.substr(0, kSteps.size()) != kSteps) return false;
  text.remove_prefix(kSteps.size());
  if (text.empty()) return options->ab_steps = kUsual, true;
  std::int64_t steps = 0;
  if (text.front() != ':' || !ParseInteger(text.substr(1), &steps) || steps < kMin || steps > kMax)
    return false;
  return options->ab_steps = steps, true;
}

bool Stall(std::string_view text, Options* options) {
  std::int64_t limit = 0;
  if (text == "0") return options->stall_ns = 0, true;
  if (!ParseDuration(text, &limit) || limit < 1'000'000'000) return false;
  return options->stall_ns = limit, true;
}

bool Window(std::string_view text, Options* options) {
  return WindowPlan::Parse(text, &options->window);
}

bool Output(std::string_view text, Options* options) {
  return !text.empty() && Text<&Options::output>(text, options);
}

bool Kinds(std::string_view text, Options* options) { return ParseKinds(text, &options->kinds); }

bool Memsets(std::string_view text, Options* options) {
  if (text != "auto" && text != "all") return false;
  return options->all_memsets = text == "all", true;
}

bool Counters(std::string_view text, Options* options) {
  bool on = false;
  if (ParseSwitch(text, &on)) return options->counters = on ? "1" : "0", true;
  const bool is_set = std::find(std::begin(kCounterSetNames), std::end(kCounterSetNames), text) !=
                      std::end(kCounterSetNames);
  if (text != "auto" && !is_set) return false;
  return options->counters = std::string(text), true;
}

bool CountersUs(std::string_view text, Options* options) {
  constexpr std::int64_t kMost = 1'000'000;
  if (text == "auto") return options->counters_us = 0, true;
  return Integer<&Options::counters_us, 10, kMost>(text, options);
}

bool Try(std::string_view text, Options* options) { return ParseTryList(text, &options->tries); }

constexpr OptionRow kOptions[] = {
    {{"TRACEINJECT", "1", "0 disables the library: nothing is recorded or changed"},
     "0 or 1",
     Switch<&Options::enabled>},
    {{"TRACEINJECT_OUTPUT", "run.db",
      "output file; %r rank, %h host, %p process id, %t start time. In a multi-rank job a name "
      "without %r or %p gets .rank00000 before its extension"},
     "a path",
     Output},
    {{"TRACEINJECT_SPOOL", "",
      "a folder, preferably on a local disk, to write the file in; it is moved to "
      "TRACEINJECT_OUTPUT when complete. Until then a one-line note next to the target, "
      "run.db.HOST.pPID.TIME.spool, says where it is. Empty: write directly to TRACEINJECT_OUTPUT"},
     "a path",
     Text<&Options::spool>},
    {{"TRACEINJECT_KINDS", kDefaultActivityKinds,
      "what CUPTI records, a comma-separated list of: " TRACEINJECT_ACTIVITY_KIND_NAMES},
     "a list of kinds",
     Kinds},
    {{"TRACEINJECT_MEMSETS", "auto",
      "auto: stop recording memsets after 5 seconds with more than 500 a second of less than 4 us "
      "each, because recording one costs the GPU 1.9 us; all: always record them"},
     "auto or all",
     Memsets},
    {{"TRACEINJECT_NVTX", "1", "0: no NVTX ranges, and NCCL data only from its profiler plug-in"},
     "0 or 1",
     Switch<&Options::nvtx>},
    {{"TRACEINJECT_NCCL", "1",
      "1: record NCCL algorithms and protocols through its profiler interface if it has one (2.23 "
      "and later), unless NCCL_PROFILER_PLUGIN is set or NCCL finds another plug-in "
      "(libnccl-profiler.so); 0: only NVTX data"},
     "0 or 1",
     Switch<&Options::nccl>},
    {{"TRACEINJECT_NCCL_LOG", "0",
      "1: record the transports between ranks from NCCL's log, which NCCL then writes to a private "
      "file. If NCCL_DEBUG, NCCL_DEBUG_SUBSYS or NCCL_DEBUG_FILE is set already, it is left alone "
      "and no transports are recorded"},
     "0 or 1",
     Switch<&Options::nccl_log>},
    {{"TRACEINJECT_SYNC", "1", "0: do not record event and synchronize calls through the wrappers"},
     "0 or 1",
     Switch<&Options::sync>},
    {{"TRACEINJECT_GEMM", "1",
      "0: do not record shapes of GEMMs and convolutions (cuBLAS, cuBLASLt, cuDNN)"},
     "0 or 1",
     Switch<&Options::gemm>},
    {{"TRACEINJECT_PYTHON", "1",
      "0: no Python hooks: data waits, optimizer steps, checkpoints, garbage collections, "
      "attention calls and PyTorch memory are not recorded"},
     "0 or 1",
     Switch<&Options::python>},
    {{"TRACEINJECT_TELEMETRY_HZ", "10",
      "GPU clock, power and temperature samples per second; also enables sampling of threads and "
      "data workers, and facts about the machine. 0: none of these"},
     "0 to 100",
     Integer<&Options::telemetry_hz, 0, 100>},
    // Off by default: counters are the whole device's, and exclusive: while we sample, no other
    // profiler has them. And sampling them has not run beside all that is recorded on hardware yet.
    {{"TRACEINJECT_COUNTERS", "0",
      "sample the GPU's hardware counters (use of SMs, tensor cores, memory and links): auto: "
      "where that is possible, in bursts for which half a percent of a core is enough; 1: all the "
      "time, at about 12 % of a core, and say loudly where it is not possible; or a "
      "set: " TRACEINJECT_COUNTER_SET_NAMES
      ", as 1. By CUPTI's PM sampling, which needs CUDA 12.6, permission for "
      "performance counters, and the counters to itself: no other profiler has them meanwhile; on "
      "Hopper and later otherwise by NVML, every 100 ms. One process samples a GPU for all"},
     "0, auto, 1 or one of " TRACEINJECT_COUNTER_SET_NAMES,
     Counters},
    {{"TRACEINJECT_COUNTERS_US", "auto",
      "microseconds between samples of TRACEINJECT_COUNTERS; auto: 1000, and 100 where "
      "TRACEINJECT_WINDOW records parts of the run"},
     "auto or microseconds from 10 to 1000000",
     CountersUs},
    {{"TRACEINJECT_STACKS_HZ", "100",
      "samples per second of each thread's Python stack (CPython 3.8 to 3.14), read from memory "
      "without Python's lock; also records the stacks of CUDA calls that wait and of some "
      "launches, in programs without Python those of machine code. 0: none of these"},
     "0 to 1000",
     Integer<&Options::stacks_hz, 0, 1000>},
    {{"TRACEINJECT_MAX_SIZE", "4G",
      "stop recording when the file of a process reaches this size (K, M, G)"},
     "a size such as 4G of at least 64K",
     Size<&Options::max_size_bytes, 65536>},
    {{"TRACEINJECT_KEEP_LAST", "0",
      "flight recorder: keep only the last part of the run in the file and drop older rows. 60s, "
      "10m, 2h: this much, up to TRACEINJECT_MAX_SIZE (16M or more); 1: as much as fits in that "
      "size; 0: keep everything"},
     "0, 1 or a time such as 60s, 10m, 2h of at least 1s",
     KeepLast},
    {{"TRACEINJECT_WINDOW", "all",
      "which part of the run to record: all; steps:100-120, optimizer steps counted from 1 (if "
      "none is seen in the first minute, seconds count as steps); seconds:30-60 since CUDA was "
      "first used; every:100:2, the last 2 of every 100 steps; every:60s:2s, the last 2 of every "
      "60 seconds; trigger, nothing before `analyze trigger start`, which works with all of these"},
     "all, steps:100-120, seconds:30-60, every:100:2, every:60s:2s or trigger",
     Window},
    {{"TRACEINJECT_DETACH", "0",
      "1: detach CUPTI (cuptiFinalize) between the windows of TRACEINJECT_WINDOW, TRACEINJECT_AB "
      "and `analyze trigger`; otherwise it costs 0.4 to 1.1 us per launch once a "
      "window opened while CUDA was in use. Reattaching takes about 10 ms. Only CUDA driver calls "
      "are recorded, and after the first window none made by the CUDA runtime: kernels that "
      "PyTorch launches through it have no launch call. After the first session of torch.profiler "
      "or another client, CUPTI stays attached: cuptiFinalize would corrupt memory"},
     "0 or 1",
     Switch<&Options::detach>},
    {{"TRACEINJECT_AB", "0",
      "steps: measure the overhead of recording: blocks of 20 optimizer steps (50 with steps:50) "
      "are alternately recorded and not recorded. If none is seen in the first minute, seconds "
      "count as steps, and nothing is measured"},
     "0, steps or steps:50 with at least 5",
     Ab},
    {{"TRACEINJECT_STALL", "60s",
      "time without any completed GPU work, although work was launched, that counts as a stall. "
      "What is outstanding and who waits is then recorded, even if the hung job is killed. 0: no "
      "stall detection"},
     "0 or a time such as 60s, 10m, 2h of at least 1s",
     Stall},
    {{"TRACEINJECT_FLUSH_MS", "750",
      "how often completed records are written and committed; a killed process loses at most about "
      "twice this, or up to ten seconds during a torch.profiler session"},
     "milliseconds from 50 to 3600000",
     Integer<&Options::flush_ms, 50, 3'600'000>},
    {{"TRACEINJECT_BUFFERS", "256M", "maximum memory for CUPTI activity buffers"},
     "a size of at least 16M",
     Size<&Options::buffer_bytes, (16 << 20)>},
    {{"TRACEINJECT_EXIT_MS", "10000", "maximum wait for the last flush when the process ends"},
     "milliseconds from 0",
     Integer<&Options::exit_ms, 0>},
    {{"TRACEINJECT_CUPTI", "",
      "path to libcupti; empty: the one loaded in the process, else next to libcudart, else the "
      "system's"},
     "a path",
     Text<&Options::cupti>},
    {{"TRACEINJECT_LOG", "",
      "log file of the library (created when recording starts); empty: none"},
     "a path",
     Text<&Options::log>},
    {{"TRACEINJECT_TRY", "",
      "changes the program to see what a fix brings, as `analyze try` does: "
      "num_workers=4,pin_memory=1. The recording and all reports say so. `analyze try --levers` "
      "lists them. Empty: nothing is changed"},
     "lever=value,... as `analyze try --levers` lists them",
     Try},
};

const OptionRow* FindOption(std::string_view name) {
  for (const OptionRow& row : kOptions) {
    if (row.info.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

bool IsSwitchedOff(const char* name) {
  const char* text = getenv(name);
  bool on = true;
  return text != nullptr && ParseSwitch(text, &on) && !on;
}

bool IsSwitchedOn(const char* name) {
  const char* text = getenv(name);
  bool on = false;
  return text != nullptr && ParseSwitch(text, &on) && on;
}

bool ParseSize(std::string_view text, std::int64_t* bytes) {
  int shift = 0;
  if (!text.empty()) {
    switch (text.back()) {
      case 'k':
      case 'K':
        shift = 10;
        break;
      case 'm':
      case 'M':
        shift = 20;
        break;
      case 'g':
      case 'G':
        shift = 30;
        break;
      case 't':
      case 'T':
        shift = 40;
        break;
      default:
        break;
    }
  }
  if (shift != 0) text.remove_suffix(1);
  std::int64_t value = 0;
  if (!ParseInteger(text, &value) || value < 0 || value > (INT64_MAX >> shift)) return false;
  *bytes = value << shift;
  return true;
}

std::vector<OptionInfo> ListOptions() {
  std::vector<OptionInfo> infos;
  for (const OptionRow& row : kOptions) infos.push_back(row.info);
  return infos;
}

std::string_view ExpectedInstead(std::string_view name, std::string_view value) {
  const OptionRow* row = FindOption(name);
  Options parsed;
  if (row == nullptr) return "the name of an option";
  return row->parse(value, &parsed) ? std::string_view() : row->expected;
}

Options ParseOptions(const char* const* environment) {
  Options options;
  for (const OptionRow& row : kOptions) row.parse(row.info.default_value, &options);
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    std::string_view entry = *environment;
    if (entry.substr(0, kPrefix.size()) != kPrefix) continue;
    std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view name = entry.substr(0, equals), value = entry.substr(equals + 1);
    const OptionRow* row = FindOption(name);
    if (row == nullptr) {
      options.unknown.emplace_back(name);
    } else if (value == row->info.default_value) {
      continue;
    } else if (!row->parse(value, &options)) {
      options.invalid.push_back(std::string(name) + "=" + std::string(value) + ": expected " +
                                std::string(row->expected) + ", the default " +
                                std::string(row->info.default_value) + " is used");
    } else {
      options.changed.push_back({std::string(name), std::string(value)});
    }
  }
  if (options.ab_steps != 0) {
    const bool has_window =
        std::any_of(options.changed.begin(), options.changed.end(),
                    [](const auto& changed) { return changed.name == "TRACEINJECT_WINDOW"; });
    if (has_window) {
      options.invalid.emplace_back(
          "TRACEINJECT_AB: not together with TRACEINJECT_WINDOW, which is used");
    } else {
      options.window = WindowPlan::Alternating(options.ab_steps);
    }
  }
  if (options.keep_last && options.max_size_bytes < kMinKeptBytes) {
    options.invalid.emplace_back(
        "TRACEINJECT_MAX_SIZE: with TRACEINJECT_KEEP_LAST at least 16M, which is used");
    options.max_size_bytes = kMinKeptBytes;
  }
  return options;
}

}  // namespace traceinject
