// SPDX-License-Identifier: Apache-2.0
#include "analyzer/doctor/write_checklist.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/printable.h"

namespace traceinject {
namespace {

constexpr int kRed = 31, kYellow = 33;

std::string Word(CheckStatus status, const TextPage& page) {
  const std::string word = fmt::format("{:<4}", CheckStatusName(status));
  if (status == CheckStatus::kFail) return page.Colored(word, kRed);
  return status == CheckStatus::kWarn ? page.Colored(word, kYellow) : word;
}

std::ptrdiff_t Count(const Checklist& lines, CheckStatus status) {
  return std::count_if(lines.begin(), lines.end(),
                       [&](const CheckLine& line) { return line.status == status; });
}

}  // namespace

void WriteChecklist(const Checklist& lines, TextPage& page) {
  for (const CheckLine& line : lines) {
    page.Sentence(Word(line.status, page) + "  " + Printable(line.check + ": " + line.text), 0);
    if (line.change.empty()) continue;
    page.Sentence("try: " + Printable(line.change), 8);
    if (!line.source.empty()) page.Sentence("[" + Printable(line.source) + "]", 8);
  }
  page.Line("");
  page.Line(fmt::format("{} OK, {} warnings, {} failed, {} unknown", Count(lines, CheckStatus::kOk),
                        Count(lines, CheckStatus::kWarn), Count(lines, CheckStatus::kFail),
                        Count(lines, CheckStatus::kUnknown)));
}

}  // namespace traceinject
