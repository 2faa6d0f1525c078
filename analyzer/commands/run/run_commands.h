// SPDX-License-Identifier: Apache-2.0
// The subcommands that report on a run, one file each. They return an ExitCode.
#pragma once

#include <string>
#include <vector>

namespace traceinject {

int RunReport(const std::vector<std::string>& arguments);
int RunKernels(const std::vector<std::string>& arguments);
int RunGaps(const std::vector<std::string>& arguments);
int RunSteps(const std::vector<std::string>& arguments);
int RunCode(const std::vector<std::string>& arguments);
int RunComm(const std::vector<std::string>& arguments);
int RunNvtx(const std::vector<std::string>& arguments);
int RunMemory(const std::vector<std::string>& arguments);
int RunData(const std::vector<std::string>& arguments);
int RunHang(const std::vector<std::string>& arguments);
int RunDiff(const std::vector<std::string>& arguments);
int RunGate(const std::vector<std::string>& arguments);
int RunTrend(const std::vector<std::string>& arguments);
int RunInfo(const std::vector<std::string>& arguments);
int RunExport(const std::vector<std::string>& arguments);
int RunSql(const std::vector<std::string>& arguments);
int RunHtml(const std::vector<std::string>& arguments);

}  // namespace traceinject
