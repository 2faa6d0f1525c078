// SPDX-License-Identifier: Apache-2.0
// What the subcommands share in reading their command lines.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/common/result.h"

namespace traceinject {

// Reads `arguments` into the variables bound to `app`. Empty: go on. Otherwise the exit code: help
// was printed to stdout, or what is wrong to stderr, with the nearest option for a misspelt one.
std::optional<int> ParseArguments(CLI::App& app, const std::vector<std::string>& arguments);

// Runs `command` in such a way that ParseArguments() shows the options it was given to `see`, reads
// nothing, and returns an exit code: manual pages and completion are made from the options as each
// command itself declares them.
void SeeOptions(const std::function<void()>& command,
                const std::function<void(const CLI::App&)>& see);

// Words that completion offers after an option whose values are too many for its help, or that take
// more than a word. Forgotten by the next SeeOptions().
void OfferWords(const CLI::Option* option, std::vector<std::string> words);
// The words of an option, by one of its names; empty: none are offered.
std::vector<std::string> OfferedWords(const CLI::App& app, const std::string& name);

// A time option such as --from; the text is checked while parsing. `time_ns` must outlive the
// parsing.
CLI::Option* AddTime(CLI::App& app, const std::string& name, std::optional<std::int64_t>& time_ns,
                     const std::string& help);

// An amount that may be written with an exponent or with k, M, G, T, P (powers of 1000): "6.7e9",
// "350M".
CLI::Option* AddAmount(CLI::App& app, const std::string& name, std::optional<double>& amount,
                       const std::string& help);
Result<double> ParseAmount(std::string_view text);

// --tolerance PERCENT, "3" or "3%", as a share. `tolerance` must outlive the parsing.
CLI::Option* AddTolerance(CLI::App& app, double& tolerance, const std::string& help);

// Numbers of steps as in "10..20", both included. A program may count its steps from 0.
struct NumberRange {
  std::int64_t first = 1, last = 1;
};
Result<NumberRange> ParseNumberRange(std::string_view text);

// Refuses what is no whole number or below `least`.
CLI::Validator WholeNumberFrom(std::int64_t least);

// -o FILE.
CLI::Option* AddOutput(CLI::App& app, std::string& path);

// Takes what stands behind "--" off the arguments: it belongs to another program, whatever it looks
// like.
std::vector<std::string> TakeProgram(std::vector<std::string>& arguments);

}  // namespace traceinject
