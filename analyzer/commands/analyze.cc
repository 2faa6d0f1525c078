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
#include "analyzer/common/text.h"
#include "analyzer/import/open/open_recording.h"

namespace traceinject {
namespace {

constexpr Command kCommands[] = {
    {"report", "what the GPUs did and waited for; the default: analyze run.db", RunReport},
    {"html", "the report as one page with charts: analyze html run.db -o report.html", RunHtml},
    {"kernels", "all kernels by name; see analyze kernels --help for sorting and filtering",
     RunKernels},
    {"gaps", "all idle times of the GPUs: when, how long, why, what ended them", RunGaps},
    {"steps", "every training step: compute, exposed communication and copies, idle by cause",
     RunSteps},
    {"comm", "all NCCL operations by function and size: time, exposed time, bandwidth", RunComm},
    {"nvtx", "NVTX ranges by name, with the GPU work launched inside them", RunNvtx},
    {"memory", "calls that allocate and free GPU memory; --samples: memory over time", RunMemory},
    {"data", "waits for data in each step, throughput; --loaders, --workers", RunData},
    {"ranks", "who waits for whom: stragglers, slow links, uneven work, pipelines, hangs",
     RunRanks},
    {"collectives", "NCCL operations across ranks: the longest, who came last, transfer and skew",
     RunCollectives},
    {"summarize", "small files that stand for recordings, to put ranks of many nodes together",
     RunSummarize},
    {"combine", "the ranks of a job, from such files or from recordings", RunCombine},
    {"merge", "the recordings of all ranks in one file, with their clocks aligned, for sharing",
     RunMerge},
    {"import", "a run.db from traces of PyTorch's profiler or of Nsight Systems", RunImport},
    {"export", "for other programs: Perfetto, Chrome JSON, CSV, OpenMetrics", RunExport},
    {"serve", "the figures of the last seconds over HTTP, for Prometheus", RunServe},
    {"diff", "two runs, before and after a change: what changed, or whether it is noise", RunDiff},
    {"gate", "for CI: fails where a run misses limits or is slower than a baseline", RunGate},
    {"info", "what is in the files: processes, devices, table sizes, health", RunInfo},
    {"sql", "a query on the recording: analyze sql run.db \"SELECT ...\"", RunSql},
    {"doctor", "looks at this machine, without a run: could it record, and what makes it slow",
     RunDoctor},
    {"record", "runs a program and records it: analyze record -- python train.py", RunRecord},
    {"watch", "the last seconds of a run while it is recorded: analyze watch run.db", RunWatch},
    {"preload", "the path of libtraceinject.so, for LD_PRELOAD", RunPreload},
    {"trigger", "start and stop recording while the program runs", RunTrigger},
};

std::string Help() {
  TableText table;
  for (const Command& command : kCommands)
    table.rows.push_back({std::string(command.name), std::string(command.help)});
  return "Says what limits a training run that libtraceinject.so recorded.\n\n"
         "usage: analyze RUN...                 report on a run\n"
         "       analyze COMMAND [OPTIONS] ...  see analyze COMMAND --help\n\n"
         "RUN is a recording (run.db, run.db.zst), the name that a job of many ranks recorded to "
         "(run.db stands for\n"
         "run.rank*.db), or a folder of recordings. It may also be a trace of PyTorch's profiler "
         "(trace.json, trace.json.gz),\n"
         "one a rank, or an export of Nsight Systems (nsys export --type sqlite).\n\n"
         "commands:\n" +
         FormatTable(table, "  ") +
         "\nexamples:\n"
         "  analyze record -- python train.py               record, and say what limits it\n"
         "  LD_PRELOAD=$(analyze preload) python train.py   record; the file is run.db\n"
         "  analyze doctor                                  before a run: is this machine set up "
         "well?\n"
         "  analyze watch run.db                            while it runs: the last seconds, again "
         "and again\n"
         "  analyze run.db                                  report\n"
         "  analyze trace.json.gz                           the same for a trace of "
         "torch.profiler\n"
         "  analyze run.db --from 1.5s --to 2s              only this part; times count from the "
         "first GPU operation\n"
         "  analyze run.db --steps 10..20                   only these steps\n"
         "  analyze run.db --format json -o report.json     the same for programs\n"
         "  analyze kernels run.db --sort mean_ns           a full table; likewise gaps, steps, "
         "...\n"
         "  analyze sql run.db \"SELECT name, count(*) FROM kernels GROUP BY name\"\n\n"
         "exit codes: 0 report, 1 failed gate or check, 2 bad usage, 3 unreadable input\n";
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
      fmt::print(stderr,
                 "analyze: there is no command '{}'; did you mean '{}'? See analyze --help.\n",
                 first, *nearest);
      return kBadUsage;
    }
  }
  return RunReport(arguments);
}

}  // namespace traceinject
