// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/job/job_commands.h"
#include "analyzer/commands/shared/job_options.h"

namespace traceinject {
namespace {

constexpr JobHelp kRanksHelp = {
    .program = "analyze ranks",
    .about =
        "How the ranks of a job affect each other: which rank delays the others and why, slow "
        "links, load imbalance, pipeline bubbles, hung operations, and one row per rank.",
    .footer =
        "Own time is what a rank would take alone: its step without the time it was blocked in\n"
        "communication. Its peers are the ranks that do the same work: those of its pipeline "
        "stage.\n\n"
        "Examples:\n"
        "  analyze ranks run.db                   all ranks: run.db stands for run.rank*.db\n"
        "  analyze ranks run/ --rows 0            every rank in a folder\n"
        "  analyze ranks summaries/               from what analyze summarize wrote on the nodes\n"
        "  analyze ranks run.db --format json -o ranks.json\n"
        "  analyze ranks timeline.json --format html -o ranks.html\n\n"
        "A timeline holds what a monitoring system knows of a job: forward and backward passes of\n"
        "micro-batches, sends, collectives, of all ranks or one file a rank, one JSON object an\n"
        "operation. docs/formats.md describes it:\n"
        "  {\"job_timeline\": 1, \"time_unit\": \"us\"}\n"
        "  {\"rank\": 0, \"stage\": 0, \"step\": 7, \"kind\": \"forward\", \"micro_batch\": 0, "
        "\"start\": 10, \"end\": 52}\n",
    .files =
        "recordings (run.db stands for run.rank*.db), summaries (*.summary), timelines of "
        "operations, or folders of these",
};

}  // namespace

int RunRanks(const std::vector<std::string>& arguments) {
  return ReportOnJob(kRanksHelp, arguments);
}

}  // namespace traceinject
