// SPDX-License-Identifier: Apache-2.0
// The options of the recorder as options of a command line: one for each row of the injector's own
// table (injector/options/options.h).
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace traceinject {

// "--max-size" of "TRACEINJECT_MAX_SIZE".
std::string FlagOf(std::string_view variable);

// Adds all but TRACEINJECT itself and TRACEINJECT_OUTPUT. Values given are checked as the recorder
// would, and stored by the names of their variables; `values` must outlive the parsing.
void AddRecorderOptions(CLI::App& app, std::map<std::string, std::string>& values);

// `environment` (NAME=VALUE) for a program to be recorded: with `values`, and with `library` first
// in LD_PRELOAD, behind which stays what is there.
std::vector<std::string> RecordedEnvironment(const std::vector<std::string>& environment,
                                             const std::map<std::string, std::string>& values,
                                             const std::string& library);

}  // namespace traceinject
