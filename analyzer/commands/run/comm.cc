// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/run/table_command.h"
#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/full_tables.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

constexpr char kCommAbout[] =
    "All NCCL operations of a run by function, communicator size, algorithm, protocol and message "
    "size, summed over its GPUs, sorted by kernel time.";
constexpr char kCommDefinitions[] =
    "Size S, algbw and busbw as nccl-tests defines them (10^9 bytes per second). The star marks\n"
    "messages below 1 MiB: latency-bound, not suitable for comparing bandwidths.\n";
constexpr char kCommExamples[] =
    "  analyze comm run.db --sort exposed_ns\n"
    "  analyze comm run.db --by-communicator --filter AllGather\n"
    "  analyze comm run.db --format csv -o comm.csv\n";

FullTable BuildComm(const Run& run, const ReportOptions& options, std::optional<std::size_t>) {
  FullTable full{BuildFiguresOfVerdict(run, options), "", {}, 0};
  const proto::Nccl& nccl = full.report.run().nccl();
  full.summary = fmt::format(
      "{} on {}, {} of them linked to {}.{}{}", Plural(nccl.kernels(), "communication kernel"),
      Plural(full.report.devices_size(), "GPU"), FormatCount(nccl.linked_kernels()),
      Plural(nccl.calls(), "NCCL call"), nccl.caveat().empty() ? "" : " ", nccl.caveat());
  full.table = CommTable(full.report);
  full.rows = nccl.rows_size();
  return full;
}

void AddByCommunicator(CLI::App& app, ReportOptions& options) {
  app.add_flag("--by-communicator", options.by_communicator,
               "one row per communicator; by default communicators of equal size share a row");
}

}  // namespace

int RunComm(const std::vector<std::string>& arguments) {
  const TableCommand table{"analyze comm", kCommAbout, kCommDefinitions, kCommExamples,
                           CommColumns(),  BuildComm,  AddByCommunicator};
  return RunTable({&table, 1}, arguments);
}

}  // namespace traceinject
