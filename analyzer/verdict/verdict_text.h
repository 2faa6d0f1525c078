// SPDX-License-Identifier: Apache-2.0
// What parts of a verdict are called, wherever it is shown.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/common/units.h"
#include "analyzer/verdict/labels.h"
#include "analyzer/verdict/savings/floor.h"
#include "schemas/report.pb.h"

namespace traceinject {

// "launch_bound", "dataloader on rank 3".
inline std::string LabelOn(std::string_view label, std::string_view place) {
  std::string text(label);
  if (!place.empty()) text.append(" on ").append(place);
  return text;
}

// Of Verdict, Saving and FixStep.
template <typename Message>
std::string LabelOn(const Message& message) {
  return LabelOn(message.label(), message.place());
}

// "Data loading (dataloader) on rank 3", "Straggler on rank 3". A cause that is never a verdict has
// no id that anyone could use: "Unrecorded host activity".
inline std::string TitleOn(std::string_view label, std::string_view place) {
  const std::string_view title = TitleOf(label);
  const bool is_label =
      label == kHostWaitRow.id ||
      std::equal(title.begin(), title.end(), label.begin(), label.end(),
                 [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
  return LabelOn(is_label ? std::string(title) : fmt::format("{} ({})", title, label), place);
}

// Of Verdict, Saving, FixStep and CauseChange.
template <typename Message>
std::string TitleOn(const Message& message) {
  return TitleOn(message.label(), message.place());
}

// "11.20 ms to 12.90 ms", of what Verdict or Saving says is saved; empty: the interval is not
// known.
template <typename Message>
std::string IntervalText(const Message& message) {
  if (!message.has_saved_low_ns()) return {};
  return fmt::format("{} to {}", FormatTime(message.saved_low_ns()),
                     FormatTime(message.saved_high_ns()));
}

// "11.95 ms (95 % interval 11.20 ms to 12.90 ms)".
inline std::string SavedText(const proto::Verdict& verdict) {
  std::string text = FormatTime(verdict.saved_ns());
  if (const std::string interval = IntervalText(verdict); !interval.empty())
    text += fmt::format(" (95 % interval {})", interval);
  return text;
}

// Of a verdict that nothing but the kernels limits the run.
inline std::string FasterKernelsText(const proto::Verdict& verdict) {
  const auto step_ns = static_cast<double>(verdict.step_ns());
  const auto floor_ns = static_cast<std::int64_t>(FloorOf(step_ns));
  return fmt::format("only faster kernels would surely save {} ({}) or more", FormatTime(floor_ns),
                     FormatShare(floor_ns, verdict.step_ns()));
}

// "without it, the mean step of 72.91 ms would take 34.63 ms: saves 37.08 ms (95 % interval 35.13
// ms to 38.67 ms), 50.9 %"; why there is no saving.
inline std::string SavingSentence(const proto::Verdict& verdict) {
  const char* const what = verdict.steps() > 0 ? "mean step" : "window";
  if (verdict.has_saved_ns()) {
    std::string text = fmt::format("without it, the {} of {} would take {}: saves {}", what,
                                   FormatTime(verdict.step_ns()), FormatTime(verdict.new_step_ns()),
                                   SavedText(verdict));
    text += ", " + FormatShare(verdict.saved_ns(), verdict.step_ns());
    // Else the figures add up without it.
    if (verdict.recording_ns() * 1000 > verdict.step_ns())
      text +=
          fmt::format("; the other {} are recording overhead", FormatTime(verdict.recording_ns()));
    return text;
  }
  if (!verdict.abstained().empty()) return "no verdict: " + verdict.abstained();
  return fmt::format("{} of the {} of {}", FasterKernelsText(verdict), what,
                     FormatTime(verdict.step_ns()));
}

// "DataLoader(num_workers=N), currently num_workers 0 -> 6"; where nothing better is known than
// what is set: "NCCL_ALGO, NCCL_PROTO, currently NCCL_ALGO Ring".
inline std::string SettingText(const proto::Lever& lever) {
  std::string text = lever.setting();
  for (const proto::LeverValue& value : lever.values()) {
    const bool first = &value == &lever.values(0);
    text += fmt::format("{}{} {}", first ? ", currently " : ", ", value.name(), value.current());
    if (!value.suggested().empty()) text += " -> " + value.suggested();
  }
  return text;
}

// "this run was changed by TRACEINJECT_TRY: num_workers=4 (train.py:41 DataLoader, was 0);
// compile=default without effect: torch 1.13 cannot"; empty: it was not.
inline std::string TriedText(const proto::Report& report) {
  std::string text;
  for (const proto::TriedChange& change : report.tried()) {
    text += text.empty() ? "this run was changed by TRACEINJECT_TRY: " : "; ";
    text += change.lever();
    if (change.times() == 0) text += " without effect";
    if (!change.text().empty())
      text += change.times() == 0 ? ": " + change.text() : " (" + change.text() + ")";
  }
  return text;
}

// "Data loading (dataloader) saves 18.20 ms, then CPU-bound kernel launches (launch_bound) 4.90 ms:
// leaves 18.10 ms"; empty: there is one fix or none.
inline std::string FixOrderText(const proto::Verdict& verdict) {
  if (verdict.fix_order_size() < 2) return {};
  std::string text;
  for (const proto::FixStep& step : verdict.fix_order())
    text += (text.empty() ? TitleOn(step) + " saves " : ", then " + TitleOn(step) + " ") +
            FormatTime(step.saved_ns());
  return text + ": leaves " + FormatTime(verdict.fix_order(verdict.fix_order_size() - 1).step_ns());
}

}  // namespace traceinject
