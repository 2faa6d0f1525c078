// SPDX-License-Identifier: Apache-2.0
// The tables of which the report shows the top, made from the same message. What a table shows is
// what the message holds: who builds it says how many rows.
#pragma once

#include <vector>

#include "analyzer/report/table.h"
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

// NVTX ranges by name, summed over the processes of the report. Needs Report.nvtx_ranges.
std::vector<TableColumn> NvtxColumns();
Table NvtxTable(const proto::Report& report);

// NCCL operations by function and size, summed over the GPUs of the report.
std::vector<TableColumn> CommColumns();
Table CommTable(const proto::Report& report);

}  // namespace traceinject
