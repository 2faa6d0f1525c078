// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/job/job_commands.h"
#include "analyzer/commands/shared/job_options.h"

namespace traceinject {
namespace {

constexpr JobHelp kCombineHelp = {
    .program = "analyze combine",
    .about = "Combines the ranks of a job, from summaries made on the nodes or from recordings.",
    .footer =
        "Examples:\n"
        "  analyze combine summaries/             all summaries in a folder\n"
        "  analyze combine run.db                 the same from the recordings, run.rank*.db\n"
        "  analyze combine a.summary b.summary    from two nodes\n",
    .files =
        "summaries (*.summary), recordings (run.db stands for run.rank*.db), timelines of "
        "operations, or folders of these",
};

}  // namespace

int RunCombine(const std::vector<std::string>& arguments) {
  return ReportOnJob(kCombineHelp, arguments);
}

}  // namespace traceinject
