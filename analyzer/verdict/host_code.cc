// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/host_code.h"

#include <algorithm>

#include "analyzer/metrics/idle/host_load.h"

namespace traceinject {
namespace {

// So many looks tell lines apart, and so few lines are worth being named.
constexpr std::int64_t kEnoughLooks = 20;
constexpr std::size_t kFewLines = 3;
constexpr double kMost = 0.5;

bool NamesLines(const TimeByPlace& time) {
  return time.looks >= kEnoughLooks && time.share_of_first(kFewLines) >= kMost;
}

// The cause of the device, not of ranks.
CauseSaving* Find(Savings& savings, std::string_view label) {
  const auto found =
      std::find_if(savings.causes.begin(), savings.causes.end(), [label](const CauseSaving& cause) {
        return cause.label == label && cause.finding == nullptr;
      });
  return found == savings.causes.end() ? nullptr : &*found;
}

void Limit(double most_ns, CauseSaving& saving) {
  saving.most_ns = std::min(saving.most_ns, most_ns);
  if (saving.saved_ns <= most_ns) return;
  const double share = most_ns / saving.saved_ns;
  saving.saved_ns = most_ns;
  saving.low_ns *= share;
  saving.high_ns *= share;
  for (double& sample : saving.resampled) sample *= share;
}

// The cause of the device with this label becomes part of launching.
void AddToLaunching(std::string_view label, Savings& savings) {
  CauseSaving* const waiting = Find(savings, label);
  CauseSaving* launching = Find(savings, "launch_bound");
  if (launching == nullptr) launching = Find(savings, kHostCodeLabel);
  if (waiting == nullptr) return;
  if (launching == nullptr) {
    waiting->label = "launch_bound";
    return;
  }
  launching->saved_ns += waiting->saved_ns;
  launching->low_ns += waiting->low_ns;
  launching->high_ns += waiting->high_ns;
  launching->most_ns += waiting->most_ns;
  const std::size_t both = std::min(launching->resampled.size(), waiting->resampled.size());
  for (std::size_t i = 0; i < both; ++i) launching->resampled[i] += waiting->resampled[i];
  launching->resampled.resize(both);
  savings.causes.erase(savings.causes.begin() + (waiting - savings.causes.data()));
}

// Which of launching and waiting is code that lines name. `unscheduled_share`: of the time, without
// a processor. Losing it makes any stretch long: of a thread that does nothing but launch, about
// that share of the time that it is late.
void NameLines(const DevicePlaces& places, double unscheduled_share, Savings& savings) {
  if (!NamesLines(places.stretches)) return;
  const auto ns = [&](IdleCause cause) { return static_cast<double>(places.of(cause).total_ns); };
  const double waits_ns = ns(IdleCause::kHostWait);
  const double late_ns = ns(IdleCause::kLaunch) + ns(IdleCause::kPython);
  // Waits are long, too.
  const double stretches_ns =
      std::max(0.0, static_cast<double>(places.stretches.total_ns) - waits_ns);
  CauseSaving* launching = Find(savings, "launch_bound");
  CauseSaving* waiting = Find(savings, kHostWaitLabel);
  if (launching != nullptr &&
      (late_ns <= 0 || stretches_ns < std::max(kMost, unscheduled_share) * late_ns))
    launching = nullptr;
  if (waiting != nullptr && !NamesLines(places.of(IdleCause::kHostWait))) waiting = nullptr;
  if (launching != nullptr && (waiting == nullptr || launching->saved_ns >= waiting->saved_ns)) {
    Limit(stretches_ns / places.steps, *launching);
    launching->label = kHostCodeLabel;
  } else if (waiting != nullptr) {
    waiting->label = kHostCodeLabel;
  }
}

}  // namespace

void NameHostCode(const DeviceFigures& judged, Savings& savings) {
  if (savings.causes.empty()) return;
  const double unscheduled_ns =
      ProcessorWaitOfFeeders(*judged.rank, judged.timeline, judged.times).value_or(0);
  const auto all_ns = static_cast<double>(std::max<TimeNs>(Length(judged.times), 1));
  if (judged.places) NameLines(*judged.places, unscheduled_ns / all_ns, savings);
  const auto steps = static_cast<double>(std::max<std::size_t>(judged.steps.count_judged(), 1));
  const CauseSaving* const waiting = Find(savings, kHostWaitLabel);
  if (waiting != nullptr && unscheduled_ns / steps >= kMost * waiting->saved_ns)
    AddToLaunching(kHostWaitLabel, savings);
  SortSavings(savings);
}

}  // namespace traceinject
