// SPDX-License-Identifier: Apache-2.0
// A Report for people: plain text. Every number comes from the message;
// nothing is computed here but its notation.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/report/layout/text_layout.h"
#include "schemas/report.pb.h"

namespace traceinject {

struct TextOptions {
  std::size_t width = kTextWidth;  // columns
  bool color = false;    // bold headings and a colored grade, as ANSI sequences: for terminals
  bool full = false;     // all sections, not the first screen alone
  std::string run = {};  // what to name in commands that show more; empty: the first file
  std::size_t gaps = 5;  // gaps of each GPU
  std::size_t device_rows = 5;  // rows of each table of a GPU, where there are several
};

std::string WriteText(const proto::Report& report, const TextOptions& options);

// Its beginning: what limits the run, or what a run that hung stands in.
std::string WriteVerdictText(const proto::Report& report, const TextOptions& options);

}  // namespace traceinject
