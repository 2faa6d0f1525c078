// SPDX-License-Identifier: Apache-2.0
// How figures are written and read.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/common/result.h"
#include "analyzer/compare/figures.h"

namespace traceinject {

// "ms", "share", "ratio", "bytes", "1/s", "MHz", "W", "count".
std::string_view UnitName(FigureUnit unit);
// The unit of that name; kCount for others.
FigureUnit UnitOfName(std::string_view name);

// "31.24 ms", "12.3 %", "0.221", "24.18 GB", "128.2 /s".
std::string FigureText(FigureUnit unit, double value);

// What a condition compares a figure of this unit with: "310", "310ms", "0.3s"; "0.42", "42%";
// "40GB", "40GiB".
Result<double> ParseFigure(FigureUnit unit, std::string_view text);

}  // namespace traceinject
