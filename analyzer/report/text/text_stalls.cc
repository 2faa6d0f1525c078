// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/report/layout/kernel_names.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/text_sections.h"

namespace traceinject {
namespace {

std::string ThreadText(const proto::StalledCall& call) {
  return call.thread_name().empty()
             ? fmt::format("thread {}", call.thread())
             : fmt::format("thread {} ({})", call.thread(), call.thread_name());
}

// "AllReduce number 1234 of communicator 0xabc (rank 3 of 8)".
std::string OperationText(const proto::StalledOperation& operation) {
  std::string text = operation.function();
  if (operation.has_sequence()) text += fmt::format(" number {}", operation.sequence());
  if (operation.has_communicator()) text += " of communicator " + operation.communicator();
  if (operation.has_communicator_rank() && operation.has_communicator_size())
    text += fmt::format(", as rank {} of {}", operation.communicator_rank(),
                        operation.communicator_size());
  return text;
}

void WriteRanges(TextReport& to, const proto::Stall& stall) {
  std::string text;
  for (const proto::StalledCall& range : stall.ranges()) {
    text += fmt::format("{}\"{}\" since {} on {}", text.empty() ? "" : ", ",
                        ShortenMiddle(range.name(), 60), FormatTime(range.start_ns()),
                        ThreadText(range));
  }
  if (!text.empty()) to.page.Sentence("- open NVTX ranges: " + text, 4);
}

void WriteStall(TextReport& to, const proto::Stall& stall) {
  const std::string until =
      stall.has_end_ns() ? "then the next operation began" : "up to the last known time";
  to.page.Sentence(to.page.Colored(
      fmt::format("{}nothing {} on the GPU from {} for {}, {}, although work was launched",
                  SourcePrefix(to.report, stall.source()),
                  stall.unanswered() ? "is known to have completed" : "completed",
                  FormatTime(stall.start_ns()), FormatTime(stall.length_ns()), until),
      33));
  to.page.Sentence(stall.has_last_operation()
                       ? fmt::format("- the last that completed: {} on {}, at {}",
                                     ShortKernelNames({stall.last_operation()}, 80).front(),
                                     stall.last_device(), FormatTime(stall.last_end_ns()))
                       : std::string("- nothing had completed before"),
                   4);
  if (stall.has_end_ns()) return;
  if (stall.unanswered()) {
    to.page.Sentence(
        "- CUPTI did not respond: what completed since then is unknown. One possible cause: a "
        "thread launching a kernel for the first time while the GPU is busy holds a CUDA lock "
        "until the GPU is idle; CUDA_MODULE_LOADING=EAGER rules that out",
        4);
  }
  if (stall.has_first_launch()) {
    to.page.Sentence(
        fmt::format("- outstanding: {}, the first by {} at {} on {}",
                    Plural(stall.outstanding_launches(), "launch", "es"),
                    stall.first_launch().name(), FormatTime(stall.first_launch().start_ns()),
                    ThreadText(stall.first_launch())),
        4);
  }
  if (stall.has_operation()) {
    to.page.Sentence(
        fmt::format("- blocked in {}{}: {}, called at {}", OperationText(stall.operation()),
                    stall.unanswered() ? " or a later one" : "",
                    FormatBytes(stall.operation().bytes()),
                    FormatTime(stall.operation().start_ns())),
        4);
  }
  for (const proto::StalledCall& wait : stall.waits()) {
    to.page.Sentence(fmt::format("- {} waits for {} since {}", ThreadText(wait), wait.name(),
                                 FormatTime(wait.start_ns())),
                     4);
  }
  WriteRanges(to, stall);
}

void WriteHungOperation(TextReport& to, const proto::HungOperation& hung) {
  to.page.Sentence(
      fmt::format("{}{} of communicator {}{}:", hung.function(),
                  hung.has_sequence() ? fmt::format(" number {}", hung.sequence()) : std::string(),
                  hung.communicator(),
                  hung.has_size() ? fmt::format(", {} ranks", hung.size()) : std::string()));
  TextRows rows = {{"process", "operation", "number", "bytes", "called", "state"}};
  for (const proto::StalledOperation& one : hung.processes()) {
    rows.push_back({SourceLabel(to.report, one.source()), one.function(),
                    one.has_sequence() ? FormatCount(one.sequence()) : kUnknownText,
                    FormatBytes(one.bytes()), FormatTime(one.start_ns()), one.state()});
  }
  to.page.Table(rows, 2, 4);
  std::string behind;
  for (const int source : hung.behind())
    behind += (behind.empty() ? "" : ", ") + SourceLabel(to.report, source);
  if (!behind.empty()) to.page.Sentence(behind + " did not reach it");
}

}  // namespace

void WriteHungRun(TextReport& to) {
  int processes = 0;
  bool known = true;
  std::int64_t longest_ns = 0;
  for (const proto::Stall& stall : to.report.stalls()) {
    if (stall.has_end_ns()) continue;
    ++processes;
    known &= !stall.unanswered();
    longest_ns = std::max(longest_ns, stall.length_ns());
  }
  if (processes == 0) return;
  const std::string who = Plural(processes, "process", "es");
  to.page.Sentence(
      to.page.Colored(
          fmt::format(
              "The run {} on the GPU for up to {}; see Stalls. The verdict covers the time before.",
              known ? "hangs at its end: " + who + " completed nothing"
                    : "may hang at its end: of " + who + " nothing is known to have completed",
              FormatTime(longest_ns)),
          33),
      0);
}

void WriteStalls(TextReport& to) {
  if (to.report.stalls().empty()) return;
  to.page.Heading("Stalls");
  for (const proto::Stall& stall : to.report.stalls()) WriteStall(to, stall);
  for (const proto::HungOperation& hung : to.report.hung_operations()) WriteHungOperation(to, hung);
}

}  // namespace traceinject
