// SPDX-License-Identifier: Apache-2.0
// A Report for people: plain text that fits 100 columns. Every number comes from the message;
// nothing is computed here but its notation.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/report/layout/text_layout.h"
#include "schemas/report.pb.h"

namespace traceinject {

struct TextOptions {
  std::size_t width = kTextWidth;  // of sentences, columns
  bool color = false;    // bold headings and a colored grade, as ANSI sequences: for terminals
  std::size_t gaps = 5;  // gaps of each GPU
  std::size_t device_rows = 5;  // rows of each table of a GPU, where there are several
};

std::string WriteText(const proto::Report& report, const TextOptions& options);

// Its beginning: what limits the run, or what a run that hung stands in.
std::string WriteVerdictText(const proto::Report& report, const TextOptions& options);

}  // namespace traceinject
