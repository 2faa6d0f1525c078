// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/job/job_commands.h"
#include "analyzer/commands/shared/job_options.h"

namespace traceinject {
namespace {

constexpr JobHelp kHelp = {
    .program = "analyze ranks",
    .about =
        "What the ranks of a job do to each other: who holds the others up and why, slow links, "
        "uneven work, pipeline bubbles, operations in which ranks hang, and a row for every rank.",
    .footer =
        "Own time is what a rank would take alone: its step without the time that it was blocked "
        "by\n"
        "communication. Its peers are the ranks with like work: those of its pipeline stage.\n"
        "\nExamples:\n"
        "  analyze ranks run.db                   all ranks: run.db stands for run.rank*.db\n"
        "  analyze ranks run/ --rows 0            every rank in a folder\n"
        "  analyze ranks summaries/               from what analyze summarize wrote on the nodes\n"
        "  analyze ranks run.db --format json -o ranks.json\n",
    .files =
        "recordings (run.db stands for run.rank*.db), summaries (*.summary), or folders of "
        "these",
};

}  // namespace

int RunRanks(const std::vector<std::string>& arguments) { return ReportOnJob(kHelp, arguments); }

}  // namespace traceinject
