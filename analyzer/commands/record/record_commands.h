// SPDX-License-Identifier: Apache-2.0
// The subcommands around recording a run: before, while and after. One file each; they return an
// ExitCode.
#pragma once

#include <string>
#include <vector>

namespace traceinject {

int RunDoctor(const std::vector<std::string>& arguments);
int RunPreload(const std::vector<std::string>& arguments);
int RunWatch(const std::vector<std::string>& arguments);
int RunRecord(const std::vector<std::string>& arguments);
int RunTrigger(const std::vector<std::string>& arguments);

}  // namespace traceinject
