// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/text/text_hang.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "analyzer/common/text.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/text_sections.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxNames = 12;

using StacksOfOnePlace = std::vector<const proto::ThreadStack*>;

std::string KeyOf(const proto::ThreadStack& stack) {
  std::string key;
  for (const proto::StackFrame& frame : stack.frames())
    key += fmt::format("{}\n{}\n{}\n", frame.file(), frame.line(), frame.function());
  return key;
}

// Equal stacks together: where most stand comes first, and of as many the first of the report.
std::vector<StacksOfOnePlace> GroupsOf(const proto::Report& report, bool only_main) {
  std::vector<StacksOfOnePlace> groups;
  std::map<std::string, std::size_t> known;
  for (const proto::ThreadStack& stack : report.last_stacks()) {
    if (only_main && !stack.main()) continue;
    const auto [group, is_new] = known.try_emplace(KeyOf(stack), groups.size());
    if (is_new) groups.emplace_back();
    groups[group->second].push_back(&stack);
  }
  std::ranges::stable_sort(groups, [](const StacksOfOnePlace& a, const StacksOfOnePlace& b) {
    return a.size() > b.size();
  });
  return groups;
}

// "ranks 0-2, 4-7"
std::string ProcessesOf(const proto::Report& report, const StacksOfOnePlace& group) {
  std::set<int> ranks;
  for (const proto::ThreadStack* stack : group) {
    const proto::Source& source = report.sources(stack->source());
    if (source.has_rank()) ranks.insert(source.rank());
  }
  if (ranks.size() == group.size() && ranks.size() > 1)
    return "ranks " + NumberRanges({ranks.begin(), ranks.end()});
  std::vector<std::string> names;
  for (const proto::ThreadStack* stack : group)
    names.push_back(SourceLabel(report, stack->source()));
  return JoinFirst(names, kMaxNames);
}

// "rank 0 MainThread (4711)"
std::string ThreadsOf(const proto::Report& report, const StacksOfOnePlace& group) {
  std::vector<std::string> names;
  for (const proto::ThreadStack* stack : group) {
    const std::string thread =
        stack->thread_name().empty() ? "thread" : ShortenMiddle(stack->thread_name(), 40);
    names.push_back(
        fmt::format("{} {} ({})", SourceLabel(report, stack->source()), thread, stack->thread()));
  }
  return JoinFirst(names, kMaxNames);
}

// The program's own lines, the innermost first, with what that one called of a library. Without
// any, the innermost frame.
std::string OwnFramesText(const proto::ThreadStack& stack) {
  const auto& frames = stack.frames();
  const auto first = std::ranges::find_if(frames, &proto::StackFrame::own);
  if (first == frames.end())
    return frames.empty() ? "no Python frame" : frames.begin()->place() + " (a library)";
  std::string text;
  for (auto frame = first; frame != frames.end(); ++frame) {
    if (!frame->own()) continue;
    text += (text.empty() ? "" : " <- ") + frame->place();
    if (frame == first && first != frames.begin())
      text += fmt::format(" ({})", std::prev(first)->library());
  }
  return text;
}

void WriteAllFrames(TextReport& to, const proto::ThreadStack& stack) {
  constexpr std::size_t kIndent = 4;
  for (const proto::StackFrame& frame : stack.frames())
    to.page.Sentence(frame.place() + (frame.own() ? "" : " (library)"), kIndent);
}

}  // namespace

std::string WriteHangText(const proto::Report& report, const TextOptions& options, bool full) {
  TextPage page(options.color, options.width);
  TextReport to{report, options, page};
  WriteHungRun(to);
  const bool hangs = std::ranges::any_of(
      report.stalls(), [](const proto::Stall& stall) { return !stall.has_end_ns(); });
  if (!hangs)
    page.Sentence(report.last_stacks().empty()
                      ? "No process hangs at its end."
                      : "No process hangs at its end: this is where they were when last looked at.",
                  0);
  page.Heading(full ? "Where all threads were last seen"
                    : "Where the main threads were last seen (all: --full-stacks)");
  if (report.last_stacks().empty())
    page.Sentence("no Python stacks were recorded (TRACEINJECT_STACKS_HZ; analyze info says why)");
  for (const StacksOfOnePlace& group : GroupsOf(report, !full)) {
    if (full) {
      page.Sentence(ThreadsOf(report, group) + ":");
      WriteAllFrames(to, *group.front());
    } else {
      page.Sentence(
          fmt::format("{}: {}", ProcessesOf(report, group), OwnFramesText(*group.front())));
    }
  }
  WriteStalls(to);
  return page.text();
}

}  // namespace traceinject
