// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tries/foretell.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/common/mean.h"
#include "analyzer/tries/wishes.h"
#include "analyzer/verdict/lever_values.h"

namespace traceinject {
namespace {

constexpr std::string_view kWorkers = "num_workers";

// 0: it is no number.
int NumberIn(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Empty: it sets none.
std::optional<int> WorkersTried(const std::string& tried) {
  for (const TryWish& wish : WishesOf(tried)) {
    if (wish.lever == kWorkers) return NumberIn(wish.value);
  }
  return std::nullopt;
}

int WorkersNow(const proto::Verdict& verdict) {
  for (const proto::Lever& lever : verdict.levers()) {
    for (const proto::LeverValue& value : lever.values()) {
      if (value.name() == kWorkers) return NumberIn(value.current());
    }
  }
  return 0;
}

// The part of the saving that a lever gets. Workers share the batches: a step takes no less than
// the work for its batches, divided by them. What that is, is known where the program waits for
// them: all are busy all the time, or without any the program does it while it waits.
double PartSaved(const proto::Verdict& verdict, const std::string& tried) {
  const std::optional<int> then = WorkersTried(tried);
  if (!then || !verdict.has_new_step_ns()) return 1;
  if (*then == 0) return 0;  // the program loads while it waits
  const auto saved_ns = static_cast<double>(verdict.saved_ns()),
             new_step_ns = static_cast<double>(verdict.new_step_ns());
  const int now = WorkersNow(verdict);
  const double work_ns = now == 0 ? saved_ns : now * (new_step_ns + saved_ns);
  const double still_waited_ns = std::max(0.0, work_ns / *then - new_step_ns);
  return std::max(0.0, 1 - still_waited_ns / saved_ns);
}

bool Sets(const std::vector<TryWish>& wishes, std::string_view text) {
  return std::any_of(wishes.begin(), wishes.end(),
                     [&](const TryWish& wish) { return wish.text() == text; });
}

bool StartsWorkersAgain(const proto::Verdict& verdict, const std::string& tried) {
  if (!WorkersTried(tried) || Sets(WishesOf(tried), "persistent_workers=1")) return false;
  for (const proto::Lever& lever : verdict.levers()) {
    for (const proto::LeverValue& value : lever.values()) {
      if (value.name() == kEpochsBegun) return true;
    }
  }
  return false;
}

std::int64_t MeanOf(const std::vector<double>& values) { return std::llround(Mean(values)); }

}  // namespace

TryReach ReachOf(const std::string& label, const std::string& tried) {
  TryReach reach = TryReach::kPart;
  for (const TryWish& wish : WishesOf(tried))
    reach = std::max(reach, ReachOfTry(label, wish.text()));
  return reach;
}

void Foretell(const std::vector<const proto::Verdict*>& verdicts, proto::TriedFix& fix) {
  const TryReach reach = ReachOf(fix.label(), fix.tried());
  if (reach == TryReach::kBeyond) return;
  std::vector<double> most, saved, low, high;
  for (const proto::Verdict* verdict : verdicts) {
    if (verdict->label() != fix.label() || !verdict->has_saved_ns() || verdict->saved_ns() <= 0)
      continue;
    most.push_back(static_cast<double>(verdict->saved_ns()));
    if (reach == TryReach::kPart || StartsWorkersAgain(*verdict, fix.tried())) continue;
    const double part = PartSaved(*verdict, fix.tried());
    saved.push_back(part * most.back());
    if (!verdict->has_saved_low_ns()) continue;
    low.push_back(part * static_cast<double>(verdict->saved_low_ns()));
    high.push_back(part * static_cast<double>(verdict->saved_high_ns()));
  }
  if (most.empty()) return;
  if (saved.empty()) return fix.set_most_ns(MeanOf(most));
  fix.set_predicted_ns(MeanOf(saved));
  if (low.empty()) return;
  fix.set_predicted_low_ns(MeanOf(low));
  fix.set_predicted_high_ns(MeanOf(high));
}

}  // namespace traceinject
