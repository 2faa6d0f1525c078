// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/host_code.h"

#include <algorithm>

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

}  // namespace

void NameHostCode(const DeviceFigures& judged, Savings& savings) {
  if (!judged.places || savings.causes.empty() || !NamesLines(judged.places->stretches)) return;
  const DevicePlaces& places = *judged.places;
  const auto ns = [&](IdleCause cause) { return static_cast<double>(places.of(cause).total_ns); };
  const double waits_ns = ns(IdleCause::kHostWait);
  const double late_ns = ns(IdleCause::kLaunch) + ns(IdleCause::kPython);
  // Waits are long, too.
  const double stretches_ns =
      std::max(0.0, static_cast<double>(places.stretches.total_ns) - waits_ns);
  CauseSaving* launching = Find(savings, "launch_bound");
  CauseSaving* waiting = Find(savings, kHostWaitLabel);
  if (launching != nullptr && (late_ns <= 0 || stretches_ns < kMost * late_ns)) launching = nullptr;
  if (waiting != nullptr && !NamesLines(places.of(IdleCause::kHostWait))) waiting = nullptr;
  if (launching != nullptr && (waiting == nullptr || launching->saved_ns >= waiting->saved_ns)) {
    Limit(stretches_ns / places.steps, *launching);
    launching->label = kHostCodeLabel;
  } else if (waiting != nullptr) {
    waiting->label = kHostCodeLabel;
  }
  SortSavings(savings);
}

}  // namespace traceinject
