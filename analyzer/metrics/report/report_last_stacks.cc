// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/metrics/places/last_stacks.h"
#include "analyzer/metrics/report/report_writer.h"

namespace traceinject {
namespace {

void StackFrameOf(const Rank& rank, std::uint32_t place, proto::StackFrame& to) {
  const CodePlace& code = rank.places[place];
  to.set_file(std::string(rank.string(code.file)));
  to.set_line(code.line);
  to.set_function(std::string(rank.string(code.function)));
  to.set_place(PlaceText(rank, place));
  to.set_library(LibraryText(rank, place));
  to.set_own(!IsLibraryPlace(rank, code));
}

}  // namespace

void ReportWriter::LastStacks(Report& to) const {
  for (std::size_t index = 0; index < run_.ranks.size(); ++index) {
    const Rank& rank = run_.ranks[index];
    bool is_main = true;
    for (const LastStack& last : traceinject::LastStacks(rank)) {
      proto::ThreadStack& one = *to.add_last_stacks();
      one.set_source(static_cast<int>(index));
      one.set_thread(rank.threads[last.thread].tid);
      one.set_thread_name(rank.threads[last.thread].name);
      one.set_main(is_main);
      one.set_time_ns(last.time - origin_);
      one.set_at_stall(last.at_stall);
      for (std::uint32_t at = last.stack; at != kNone; at = rank.stacks[at].caller)
        StackFrameOf(rank, rank.stacks[at].place, *one.add_frames());
      is_main = false;
    }
  }
}

}  // namespace traceinject
