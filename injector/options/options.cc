// SPDX-License-Identifier: Apache-2.0
#include "injector/options/options.h"

#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "injector/options/activity_kind_names.h"
#include "injector/options/duration.h"

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
  constexpr std::int64_t kUsual = 20, kLeast = 5, kMost = 1'000'000;
  if (text == "0") return options->ab_steps = 0, true;
  if (text.substr(0, kSteps.size()) != kSteps) return false;
  text.remove_prefix(kSteps.size());
  if (text.empty()) return options->ab_steps = kUsual, true;
  std::int64_t steps = 0;
  if (text.front() != ':' || !ParseInteger(text.substr(1), &steps) || steps < kLeast ||
      steps > kMost)
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

constexpr OptionRow kOptions[] = {
    {{"TRACEINJECT", "1", "0 turns the library off: nothing is recorded and nothing is changed"},
     "0 or 1",
     Switch<&Options::enabled>},
    {{"TRACEINJECT_OUTPUT", "run.db",
      "where to record; %r rank, %h host, %p process id, %t start time. In a job of several ranks "
      "a name without %r or %p "
      "gets .rank00000 before its extension"},
     "a path",
     Output},
    {{"TRACEINJECT_SPOOL", "",
      "a folder, best on a local disk, in which the file is written; it is moved to "
      "TRACEINJECT_OUTPUT when it is complete. Until then a note of one line beside its place, "
      "run.db.HOST.pPID.TIME.spool, says where it is. Empty: it is written in its place"},
     "a path",
     Text<&Options::spool>},
    {{"TRACEINJECT_KINDS", kDefaultActivityKinds,
      "what CUPTI records, a comma-separated list of: " TRACEINJECT_ACTIVITY_KIND_NAMES},
     "a list of kinds",
     Kinds},
    {{"TRACEINJECT_MEMSETS", "auto",
      "auto: where more than 500 memsets a second come for 5 seconds, of less than 4 us each, they "
      "are left out from then on, as recording one costs the GPU 1.9 us; all: they never are"},
     "auto or all",
     Memsets},
    {{"TRACEINJECT_NVTX", "1",
      "0: no NVTX ranges, and of NCCL only what its profiler interface tells"},
     "0 or 1",
     Switch<&Options::nvtx>},
    {{"TRACEINJECT_NCCL", "1",
      "1: how NCCL carries operations out, through its profiler interface where it has one (2.23 "
      "and later), unless NCCL_PROFILER_PLUGIN is set or NCCL finds a plug-in of its own "
      "(libnccl-profiler.so); 0: only what NVTX tells"},
     "0 or 1",
     Switch<&Options::nccl>},
    {{"TRACEINJECT_NCCL_LOG", "0",
      "1: which transports connect the ranks, from NCCL's own log, which NCCL then writes to a "
      "private file. Where the user or the script sets NCCL_DEBUG, NCCL_DEBUG_SUBSYS or "
      "NCCL_DEBUG_FILE, that stays, and no transports are recorded"},
     "0 or 1",
     Switch<&Options::nccl_log>},
    {{"TRACEINJECT_SYNC", "1", "0: no event and synchronise calls from the wrappers"},
     "0 or 1",
     Switch<&Options::sync>},
    {{"TRACEINJECT_GEMM", "1", "0: no shapes of matrix products (cuBLAS, cuBLASLt)"},
     "0 or 1",
     Switch<&Options::gemm>},
    {{"TRACEINJECT_PYTHON", "1",
      "0: nothing runs in the program's Python: no waits for data, optimizer steps, checkpoints, "
      "garbage collections, attention calls and samples of PyTorch's memory"},
     "0 or 1",
     Switch<&Options::python>},
    {{"TRACEINJECT_TELEMETRY_HZ", "10",
      "how often a second clocks, power and temperature of the GPUs are sampled; threads, data "
      "workers and the machine's facts come with it. 0: none of these"},
     "0 to 100",
     Integer<&Options::telemetry_hz, 0, 100>},
    {{"TRACEINJECT_MAX_SIZE", "4G",
      "recording stops when the file of a process reaches this size (K, M, G)"},
     "a size such as 4G of at least 64K",
     Size<&Options::max_size_bytes, 65536>},
    {{"TRACEINJECT_KEEP_LAST", "0",
      "a flight recorder: the file keeps the last part of the run, and what is older is dropped "
      "from it. 60s, 10m, 2h: so much, and no more than TRACEINJECT_MAX_SIZE (16M or more) holds; "
      "1: as much as that holds; 0: nothing is dropped"},
     "0, 1 or a time such as 60s, 10m, 2h of at least 1s",
     KeepLast},
    {{"TRACEINJECT_WINDOW", "all",
      "what part of the run is recorded: all; steps:100-120, optimizer steps counted from 1 (where "
      "none is seen in the first minute, seconds count as steps); seconds:30-60 since CUDA was "
      "first used; every:100:2, of 100 steps the last 2; every:60s:2s, of 60 seconds the last 2; "
      "trigger, nothing before `analyze trigger start`, which works with all of them"},
     "all, steps:100-120, seconds:30-60, every:100:2, every:60s:2s or trigger",
     Window},
    {{"TRACEINJECT_DETACH", "0",
      "1: between the windows of TRACEINJECT_WINDOW, TRACEINJECT_AB and `analyze trigger` CUPTI"
      " is taken out of the process (cuptiFinalize), as else it costs some 400 ns a launch once"
      " something was recorded. Coming back takes some 10 ms. Of CUDA calls only the driver's are "
      "recorded, and after the first window none that the CUDA runtime makes: kernels that PyTorch "
      "launches through it have no call. CUPTI stays from the first session of torch.profiler or "
      "another client on: cuptiFinalize corrupts memory otherwise"},
     "0 or 1",
     Switch<&Options::detach>},
    {{"TRACEINJECT_AB", "0",
      "steps: what recording adds to a step is measured: blocks of 20 optimizer steps (of 50 with "
      "steps:50) are recorded and not recorded by turns. Where none is seen in the first minute, "
      "seconds count as steps, and nothing is measured"},
     "0, steps or steps:50 with at least 5",
     Ab},
    {{"TRACEINJECT_STALL", "60s",
      "a stall: nothing completes on the GPU for so long although work was launched. The file then "
      "tells what is outstanding and who waits, also of a job that hangs and is killed. 0: none is "
      "looked for"},
     "0 or a time such as 60s, 10m, 2h of at least 1s",
     Stall},
    {{"TRACEINJECT_FLUSH_MS", "750",
      "how often what is complete is written and committed; what a killed process loses is at most "
      "about twice this, and in a session of torch.profiler up to ten seconds"},
     "milliseconds from 50 to 3600000",
     Integer<&Options::flush_ms, 50, 3'600'000>},
    {{"TRACEINJECT_BUFFERS", "256M", "most memory for CUPTI's activity buffers"},
     "a size of at least 16M",
     Size<&Options::buffer_bytes, (16 << 20)>},
    {{"TRACEINJECT_EXIT_MS", "10000", "longest wait for the last flush when the process ends"},
     "milliseconds from 0",
     Integer<&Options::exit_ms, 0>},
    {{"TRACEINJECT_CUPTI", "",
      "path of libcupti; empty: the one in the process, else beside libcudart, else the system's"},
     "a path",
     Text<&Options::cupti>},
    {{"TRACEINJECT_LOG", "",
      "file to which the library writes what it does (created when recording starts); empty: none"},
     "a path",
     Text<&Options::log>},
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
  if (options.keep_last && options.max_size_bytes < kLeastKeptBytes) {
    options.invalid.emplace_back(
        "TRACEINJECT_MAX_SIZE: with TRACEINJECT_KEEP_LAST at least 16M, which is used");
    options.max_size_bytes = kLeastKeptBytes;
  }
  return options;
}

}  // namespace traceinject
