// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/code_text.h"

#include <fmt/format.h>

#include "analyzer/common/printable.h"
#include "analyzer/common/units.h"

namespace traceinject {

std::uint32_t PlaceOf(const Run& run, const RowModel& model, const EventRef& ref) {
  const Row& row = model.rows[ref.row];
  if (!IsOfCode(row.kind)) return kNone;
  const std::uint32_t source = model.lane(ref).source(ref.event);
  return row.kind == RowKind::kCode ? source : run.ranks[row.rank].stacks[source].place;
}

std::string FileAndLine(const Rank& rank, std::uint32_t place) {
  const CodePlace& code = rank.places[place];
  const std::string file = Printable(rank.string(code.file));
  return code.line > 0 ? fmt::format("{}:{}", file, code.line) : file;
}

std::string ThreadText(const Thread& thread) {
  return thread.name.empty() ? fmt::format("{}", thread.tid)
                             : fmt::format("{} ({})", thread.tid, Printable(thread.name));
}

std::vector<std::string> CodeTooltip(const Run& run, const RowModel& model, const EventRef& ref) {
  const Row& row = model.rows[ref.row];
  const Rank& rank = run.ranks[row.rank];
  const std::uint32_t place = PlaceOf(run, model, ref);
  return {FileAndLine(rank, place), "thread " + ThreadText(rank.threads[row.thread]),
          LooksText(model, row, place)};
}

std::string LooksText(const RowModel& model, const Row& row, std::uint32_t place) {
  const ThreadLooks& looks = model.looks[row.rank][row.thread];
  const ThreadLooks::At at = looks.of(place);
  const std::int64_t found = row.kind == RowKind::kCode ? at.innermost : at.anywhere;
  if (found == 0) return "at a call, in no sample";
  return fmt::format("in {} of {} samples of the thread ({})", FormatCount(found),
                     FormatCount(looks.all), FormatShare(found, looks.all));
}

}  // namespace traceinject
