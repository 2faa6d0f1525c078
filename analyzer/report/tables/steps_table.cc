// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "analyzer/report/tables/full_tables.h"
#include "analyzer/report/tables/step_rows.h"

namespace traceinject {
namespace {

constexpr ColumnOf<StepRow> kStepsColumns[] = {
    {{"step", "step", Unit::kOrdinal, Shown::kAlways, "step number, as for --steps"},
     [](const StepRow& row) { return Cell(row.number); }},
    {{"gpu", "GPU", Unit::kText, Shown::kIfRowsDiffer, "process and CUDA ordinal"},
     [](const StepRow& row) { return Cell(row.device.label()); }},
    {{"kind", "kind", Unit::kText, Shown::kIfRowsDiffer,
      "regular; or warm-up, evaluation, checkpoint, irregular: beyond median +- max(5 x 1.4826 "
      "MAD, "
      "10 %)"},
     [](const StepRow& row) { return Cell(row.step.kind()); }},
    {{"start_ns", "start", Unit::kMoment, Shown::kAlways, "after the first GPU operation"},
     [](const StepRow& row) { return Cell(row.step.start_ns()); }},
    {{"length_ns", "length", Unit::kTime, Shown::kAlways,
      "= compute + exposed communication + exposed copies + idle + unrecorded"},
     [](const StepRow& row) { return Cell(row.step.length_ns()); }},
    {{"compute_ns", "compute", Unit::kTime, Shown::kAlways, "compute kernels running"},
     [](const StepRow& row) { return Cell(row.step.compute_ns()); }},
    {{"exposed_communication_ns", "exp. comm", Unit::kTime, Shown::kIfItFits, "communication only"},
     [](const StepRow& row) { return Cell(row.step.exposed_communication_ns()); }},
    {{"exposed_copy_ns", "exp. copy", Unit::kTime, Shown::kIfItFits, "copies and memsets only"},
     [](const StepRow& row) { return Cell(row.step.exposed_copy_ns()); }},
    {{"idle_ns", "idle", Unit::kTime, Shown::kIfItFits, "nothing running"},
     [](const StepRow& row) { return Cell(row.step.idle_ns()); }},
    {{"idle_cause", "mostly", Unit::kText, Shown::kIfItFits, "the largest of the causes below"},
     [](const StepRow& row) {
       const auto& parts = row.step.idle();
       const auto most = std::max_element(
           parts.begin(), parts.end(),
           [](const proto::IdlePart& a, const proto::IdlePart& b) { return a.ns() < b.ns(); });
       return most == parts.end() ? Cell() : Cell(most->cause());
     }},
    {{"unrecorded_ns", "not recorded", Unit::kTime, Shown::kOnRequest, "records were lost"},
     [](const StepRow& row) { return Cell(row.step.unrecorded_ns()); }},
    {{"idle_data_wait_ns", "data wait", Unit::kTime, Shown::kOnRequest,
      "idle: the program waited for its data loader"},
     [](const StepRow& row) { return IdleBy(row, "data wait"); }},
    {{"idle_sync_ns", "sync", Unit::kTime, Shown::kOnRequest,
      "idle: a synchronizing call had not returned yet"},
     [](const StepRow& row) { return IdleBy(row, "sync"); }},
    {{"idle_drained_by_sync_ns", "drained by sync", Unit::kTime, Shown::kOnRequest,
      "idle: after such a call had drained the GPU's queue"},
     [](const StepRow& row) { return IdleBy(row, "drained by sync"); }},
    {{"idle_allocator_ns", "allocator", Unit::kTime, Shown::kOnRequest,
      "idle: memory was allocated or freed"},
     [](const StepRow& row) { return IdleBy(row, "allocator"); }},
    {{"idle_checkpoint_ns", "checkpoint", Unit::kTime, Shown::kOnRequest,
      "idle: a checkpoint was being written"},
     [](const StepRow& row) { return IdleBy(row, "checkpoint"); }},
    {{"idle_gc_ns", "gc", Unit::kTime, Shown::kOnRequest, "idle: Python collected garbage"},
     [](const StepRow& row) { return IdleBy(row, "gc"); }},
    {{"idle_launch_ns", "launch", Unit::kTime, Shown::kOnRequest,
      "idle: inside launch calls, or from a launch to its start"},
     [](const StepRow& row) { return IdleBy(row, "launch"); }},
    {{"idle_python_ns", "python", Unit::kTime, Shown::kOnRequest,
      "idle: host code between CUDA calls"},
     [](const StepRow& row) { return IdleBy(row, "python"); }},
    {{"idle_host_wait_ns", "host wait", Unit::kTime, Shown::kOnRequest,
      "idle: long stretch with nothing recorded on the host"},
     [](const StepRow& row) { return IdleBy(row, "host wait"); }},
    {{"idle_copy_ns", "copy", Unit::kTime, Shown::kOnRequest,
      "idle: a copy was prepared or waited for"},
     [](const StepRow& row) { return IdleBy(row, "copy"); }},
    {{"idle_communication_ns", "communication", Unit::kTime, Shown::kOnRequest,
      "idle: communication about to start or finish"},
     [](const StepRow& row) { return IdleBy(row, "communication"); }},
    {{"idle_queued_ns", "queued", Unit::kTime, Shown::kOnRequest,
      "idle: work was queued in time; the GPU switched operations"},
     [](const StepRow& row) { return IdleBy(row, "queued"); }},
    {{"idle_unknown_ns", "unknown", Unit::kTime, Shown::kOnRequest,
      "idle: the launch was not recorded, or nothing followed"},
     [](const StepRow& row) { return IdleBy(row, "unknown"); }},
};

}  // namespace

std::vector<TableColumn> StepColumns() { return ColumnsOf<StepRow>(kStepsColumns); }

Table StepTableOf(const std::vector<StepRow>& rows) {
  return TableOf<StepRow>(kStepsColumns, rows);
}

Table StepTable(const proto::Report& report) { return StepTableOf(StepRows(report)); }

std::int64_t StepRowsThatThereAre(const proto::Report& report) {
  std::int64_t rows = 0;
  for (const proto::DeviceSteps& steps : report.steps())
    rows += steps.steps().empty() ? 0 : steps.count();
  return rows;
}

}  // namespace traceinject
