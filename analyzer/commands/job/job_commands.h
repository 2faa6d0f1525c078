// SPDX-License-Identifier: Apache-2.0
// The subcommands that read and write the recordings of a job, one file each. They return an
// ExitCode.
#pragma once

#include <string>
#include <vector>

namespace traceinject {

int RunSummarize(const std::vector<std::string>& arguments);
int RunRanks(const std::vector<std::string>& arguments);
int RunCollectives(const std::vector<std::string>& arguments);
int RunCombine(const std::vector<std::string>& arguments);
int RunMerge(const std::vector<std::string>& arguments);
int RunImport(const std::vector<std::string>& arguments);

}  // namespace traceinject
