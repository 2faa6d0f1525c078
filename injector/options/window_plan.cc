// SPDX-License-Identifier: Apache-2.0
#include "injector/options/window_plan.h"

#include <algorithm>
#include <charconv>

#include "injector/options/duration.h"

namespace traceinject {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kMaxSteps = std::int64_t{1} << 40, kMaxSeconds = 1'000'000'000;
// The thread that turns recording on is woken when a step ends, and needs a moment. Nor would it do
// to wait for it there: where a step begins on the GPU is told by the last work of the one before.
constexpr std::int64_t kStepsAhead = 1;

bool ParseCount(std::string_view text, std::int64_t most, std::int64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && *value >= 0 && *value <= most;
}

bool Split(std::string_view text, char at, std::string_view* first, std::string_view* second) {
  const std::size_t place = text.find(at);
  if (place == std::string_view::npos) return false;
  *first = text.substr(0, place);
  *second = text.substr(place + 1);
  return true;
}

}  // namespace

struct WindowForm {
  std::string_view name;  // before the first colon
  bool (*parse)(std::string_view rest, WindowPlan* plan);

  static bool All(std::string_view rest, WindowPlan* plan) {
    *plan = {};
    return rest.empty();
  }
  static bool Trigger(std::string_view rest, WindowPlan* plan) {
    plan->to_ = 0;
    return rest.empty();
  }
  static bool Steps(std::string_view rest, WindowPlan* plan) {
    std::string_view first, last;
    plan->by_steps_ = true;
    if (!Split(rest, '-', &first, &last) || !ParseCount(first, kMaxSteps, &plan->from_) ||
        !ParseCount(last, kMaxSteps, &plan->to_) || plan->from_ < 1 || plan->to_ < plan->from_)
      return false;
    // Step n runs while n - 1 have ended.
    plan->from_ = std::max<std::int64_t>(plan->from_ - 1 - kStepsAhead, 0);
    return true;
  }
  static bool Seconds(std::string_view rest, WindowPlan* plan) {
    std::string_view first, last;
    if (!Split(rest, '-', &first, &last) || !ParseCount(first, kMaxSeconds, &plan->from_) ||
        !ParseCount(last, kMaxSeconds, &plan->to_) || plan->to_ <= plan->from_)
      return false;
    plan->from_ *= kSecondNs;
    plan->to_ *= kSecondNs;
    return true;
  }
  static bool Every(std::string_view rest, WindowPlan* plan) {
    std::string_view period, part;
    std::int64_t length = 0;
    if (!Split(rest, ':', &period, &part)) return false;
    if (ParseDuration(period, &plan->period_)) {
      if (!ParseDuration(part, &length)) return false;
    } else {
      plan->by_steps_ = true;
      if (!ParseCount(period, kMaxSteps, &plan->period_) || !ParseCount(part, kMaxSteps, &length))
        return false;
    }
    if (length < 1 || length >= plan->period_) return false;
    // The last of each period: the first steps of a run are no steps like others.
    plan->to_ = plan->period_;
    plan->from_ = plan->period_ - length - (plan->by_steps_ ? kStepsAhead : 0);
    plan->from_ = std::max<std::int64_t>(plan->from_, 0);
    return true;
  }
};

namespace {

constexpr WindowForm kForms[] = {
    {"all", WindowForm::All},         {"steps", WindowForm::Steps},  // steps:100-120
    {"seconds", WindowForm::Seconds},                                // seconds:30-60
    {"every", WindowForm::Every},                                    // every:100:2, every:60s:2s
    {"trigger", WindowForm::Trigger},
};

}  // namespace

bool WindowPlan::Parse(std::string_view text, WindowPlan* plan) {
  std::string_view name = text, rest;
  Split(text, ':', &name, &rest);
  for (const WindowForm& form : kForms) {
    WindowPlan parsed;
    if (form.name != name) continue;
    if (!form.parse(rest, &parsed)) return false;
    *plan = parsed;
    return true;
  }
  return false;
}

WindowPlan WindowPlan::Alternating(std::int64_t steps) {
  WindowPlan plan;
  plan.by_steps_ = true;
  plan.period_ = 2 * steps;
  plan.to_ = steps;
  return plan;
}

bool WindowPlan::CountsSeconds(const RunProgress& progress) const {
  return progress.steps == 0 && progress.elapsed_ns >= kStepsAwaitedNs;
}

std::int64_t WindowPlan::Position(const RunProgress& progress) const {
  if (!by_steps_) return progress.elapsed_ns;
  return CountsSeconds(progress) ? progress.elapsed_ns / kSecondNs : progress.steps;
}

std::int64_t WindowPlan::NextEdge(std::int64_t position) const {
  const std::int64_t begin = period_ == 0 ? 0 : position / period_ * period_;
  const std::int64_t place = position - begin;
  if (place < from_) return begin + from_;
  if (place < to_) return to_ == kNever ? kNever : begin + to_;
  return period_ == 0 ? kNever : begin + period_ + from_;
}

bool WindowPlan::Wants(const RunProgress& progress) const {
  const std::int64_t position = Position(progress);
  const std::int64_t place = period_ == 0 ? position : position % period_;
  return place >= from_ && place < to_;
}

std::int64_t WindowPlan::NextStep(const RunProgress& progress) const {
  if (!by_steps_) return kNever;
  // With the first step, steps count again.
  return CountsSeconds(progress) ? 1 : NextEdge(progress.steps);
}

std::int64_t WindowPlan::NextNs(const RunProgress& progress) const {
  if (!by_steps_) return NextEdge(progress.elapsed_ns);
  if (progress.steps != 0) return kNever;
  if (!CountsSeconds(progress)) return kStepsAwaitedNs;
  const std::int64_t edge = NextEdge(progress.elapsed_ns / kSecondNs);
  return edge == kNever ? kNever : edge * kSecondNs;
}

}  // namespace traceinject
