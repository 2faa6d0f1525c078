// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/analyze.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>

#include "analyzer/commands/job/job_commands.h"
#include "analyzer/commands/record/record_commands.h"
#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/serve/serve_command.h"
#include "analyzer/commands/try/try_commands.h"
#include "analyzer/common/text.h"
#include "analyzer/import/open/open_recording.h"

namespace traceinject {
namespace {

constexpr Command kCommands[] = {
    {"report", "what the GPUs did and waited for; the default: analyze run.db", RunReport},
    {"html", "the report as one page with charts: analyze html run.db -o report.html", RunHtml},
    {"kernels", "all kernels by name; see analyze kernels --help for sorting and filtering",
     RunKernels},
    {"gaps", "every GPU idle gap: when, how long, why, and what ended it", RunGaps},
    {"steps", "every training step: compute, exposed communication and copies, idle by cause",
     RunSteps},
    {"comm", "all NCCL operations by function and size: time, exposed time, bandwidth", RunComm},
    {"nvtx", "NVTX ranges by name, with the GPU work launched inside them", RunNvtx},
    {"code", "lines of the program: GPU idle time, host time, kernels; --functions, --threads",
     RunCode},
    {"memory", "GPU memory allocation calls; --samples: memory over time", RunMemory},
    {"data", "data loading: waits per step, throughput; --loaders, --workers", RunData},
    {"hang", "where each rank's threads stood when the run hung or ended; --full-stacks", RunHang},
    {"ranks", "who waits for whom: stragglers, slow links, imbalance, pipelines, hangs", RunRanks},
    {"collectives", "NCCL operations across ranks: duration, last rank to arrive, skew, transfer",
     RunCollectives},
    {"summarize", "a small summary file per recording, to combine ranks of many nodes",
     RunSummarize},
    {"combine", "the ranks of a job, from summaries or recordings", RunCombine},
    {"merge", "merges all ranks into one file with aligned clocks, for sharing", RunMerge},
    {"import", "a run.db from traces of other profilers", RunImport},
    {"export", "exports to Perfetto, Chrome JSON, speedscope, CSV, OpenMetrics", RunExport},
    {"serve", "over HTTP: live metrics for Prometheus, reports on a folder of jobs", RunServe},
    {"diff", "compares two runs: what changed, and whether it is noise", RunDiff},
    {"gate", "for CI: fails if a run misses limits or is slower than a baseline", RunGate},
    {"trend", "many runs over time: where the step time changed, and what changed with it",
     RunTrend},
    {"info", "what the files contain: processes, devices, table sizes, health", RunInfo},
    {"sql", "runs an SQL query: analyze sql run.db \"SELECT ...\"", RunSql},
    {"doctor", "checks this machine: can it record, and is it set up well", RunDoctor},
    {"record", "runs and records a program: analyze record -- python train.py", RunRecord},
    {"try", "runs a program with each fix that can be applied from outside, and measures it",
     RunTry},
    {"score", "predictions of verdicts against the fixes that were tried", RunScore},
    {"watch", "live view of a run being recorded: analyze watch run.db", RunWatch},
    {"preload", "the path of libtraceinject.so, for LD_PRELOAD", RunPreload},
    {"trigger", "starts and stops recording while the program runs", RunTrigger},
};

std::string Help() {
  TableText table;
  for (const Command& command : kCommands)
    table.rows.push_back({std::string(command.name), std::string(command.help)});
  return "Reports what limits a training run recorded by libtraceinject.so.\n\n"
         "usage: analyze RUN...                 report on a run\n"
         "       analyze COMMAND [OPTIONS] ...  see analyze COMMAND --help\n\n"
         "RUN is a recording (run.db, run.db.zst), the output name of a multi-rank job (run.db "
         "stands for\n"
         "run.rank*.db), or a folder of recordings. It can also be a PyTorch profiler trace "
         "(trace.json, trace.json.gz),\n"
         "one per rank, an Nsight Systems export (nsys export --type sqlite), or a rocmProfileData "
         "trace (trace.rpd).\n\n"
         "commands:\n" +
         FormatTable(table, "  ") +
         "\n"
         "examples:\n"
         "  analyze record -- python train.py               record, then report what limits it\n"
         "  LD_PRELOAD=$(analyze preload) python train.py   record; the file is run.db\n"
         "  analyze doctor                                  before a run: check this machine's "
         "setup\n"
         "  analyze watch run.db                            while it runs: live view of the last "
         "seconds\n"
         "  analyze run.db                                  report\n"
         "  analyze trace.json.gz                           the same for a torch.profiler trace\n"
         "  analyze run.db --from 1.5s --to 2s              only this part; times are relative to "
         "the first GPU operation\n"
         "  analyze run.db --steps 10..20                   only these steps\n"
         "  analyze run.db --format json -o report.json     the same as JSON\n"
         "  analyze kernels run.db --sort mean_ns           a full table; likewise gaps, steps, "
         "...\n"
         "  analyze sql run.db \"SELECT name, count(*) FROM kernels GROUP BY name\"\n\n"
         "exit codes: 0 report, 1 failed gate or check, 2 usage error, 3 unreadable input\n";
}

int ShowVersion() {
  fmt::print("analyze {} (reads run.db up to schema version {})\n", TRACEINJECT_VERSION,
             kSchemaVersion);
  return kReported;
}

bool LooksLikePath(const std::string& word) {
  std::error_code ignored;
  return word.find_first_of("/.") != std::string::npos || std::filesystem::exists(word, ignored);
}

}  // namespace

std::span<const Command> Commands() { return kCommands; }

std::string HelpText() { return Help(); }

int Analyze(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    fmt::print(stderr, "{}", Help());
    return kBadUsage;
  }
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    fmt::print("{}", Help());
    return kReported;
  }
  if (first == "--version") return ShowVersion();
  const auto command = std::find_if(std::begin(kCommands), std::end(kCommands),
                                    [&](const Command& c) { return c.name == first; });
  if (command != std::end(kCommands)) return command->run({arguments.begin() + 1, arguments.end()});
  if (!first.starts_with("-") && !LooksLikePath(first)) {
    std::vector<std::string_view> names;
    for (const Command& known : kCommands) names.push_back(known.name);
    if (const auto nearest = NearestWord(first, names)) {
      fmt::print(stderr, "analyze: unknown command '{}'; did you mean '{}'? See analyze --help.\n",
                 first, *nearest);
      return kBadUsage;
    }
  }
  return RunReport(arguments);
}

}  // namespace traceinject
