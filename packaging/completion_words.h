// SPDX-License-Identifier: Apache-2.0
// What completion scripts of all shells are made with.
#pragma once

#include <string>
#include <vector>

#include "packaging/command_text.h"

namespace traceinject {

inline constexpr char kCompletionHead[] = "# Generated from the options that the program declares.";

void Replace(std::string& text, const std::string& mark, const std::string& with);
std::string Joined(const std::vector<std::string>& words, const char* between);

// "kernels" of "analyze kernels"; of the program itself its own name.
std::string ShortName(const CommandText& command);

// The beginning of a help text, to stand beside a word in a list.
std::string Brief(const std::string& help);

// As one word of bash, zsh or fish: text, which may hold quotes, between single quotes.
std::string QuotedForPosix(const std::string& text);
std::string QuotedForFish(const std::string& text);

}  // namespace traceinject
