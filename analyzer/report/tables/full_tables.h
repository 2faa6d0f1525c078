// SPDX-License-Identifier: Apache-2.0
// The tables of which the report shows the top, made from the same message. What a table shows is
// what the message holds: who builds it says how many rows.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/report/tables/table.h"
#include "schemas/report.pb.h"

namespace traceinject {

// Kernels by name, summed over the GPUs of the report.
std::vector<TableColumn> KernelColumns();
Table KernelTable(const proto::Report& report);

// Idle times of each GPU. Needs Gap.causes.
std::vector<TableColumn> GapColumns();
Table GapTable(const proto::Report& report);

// Steps of each GPU.
std::vector<TableColumn> StepColumns();
Table StepTable(const proto::Report& report);
// Steps whose rows are given, those that the message leaves out among them.
std::int64_t StepRowsThatThereAre(const proto::Report& report);

// NVTX ranges by name, summed over the processes of the report. Needs Report.nvtx_ranges.
std::vector<TableColumn> NvtxColumns();
Table NvtxTable(const proto::Report& report);

// NCCL operations by function and size, summed over the GPUs of the report.
std::vector<TableColumn> CommColumns();
Table CommTable(const proto::Report& report);

// Calls of CUDA that take memory or give it back, summed over the processes of the report. Needs
// Run.allocation_calls.
std::vector<TableColumn> AllocationColumns();
Table AllocationTable(const proto::Report& report);
// Memory of each GPU over time. Needs DeviceReport.memory_samples.
std::vector<TableColumn> MemorySampleColumns();
Table MemorySampleTable(const proto::Report& report);

// Waits for data in the steps of each GPU.
std::vector<TableColumn> DataStepColumns();
Table DataStepTable(const proto::Report& report);
// Data loaders of each process, and the processes that prepare data for it.
std::vector<TableColumn> DataLoaderColumns();
Table DataLoaderTable(const proto::Report& report);
std::vector<TableColumn> DataWorkerColumns();
Table DataWorkerTable(const proto::Report& report);

// The program's code by line, function and thread. Needs DeviceReport.code, grouped so.
std::vector<TableColumn> CodeLineColumns();
Table CodeLineTable(const proto::Report& report);
std::vector<TableColumn> CodeFunctionColumns();
Table CodeFunctionTable(const proto::Report& report);
std::vector<TableColumn> CodeModuleColumns();
Table CodeModuleTable(const proto::Report& report);
std::vector<TableColumn> CodeThreadColumns();
Table CodeThreadTable(const proto::Report& report);

}  // namespace traceinject
