// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/fix_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "analyzer/common/units.h"
#include "analyzer/verdict/decide.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxFixes = 4;  // nobody plans further ahead

std::string NameOf(const CauseSaving& cause) { return TitleOn(cause.label, cause.place); }

// What takes another time in both takes the shorter one.
std::shared_ptr<const std::vector<OpLength>> Both(
    const std::shared_ptr<const std::vector<OpLength>>& a,
    const std::shared_ptr<const std::vector<OpLength>>& b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  std::vector<OpLength> both;
  both.reserve(a->size() + b->size());
  auto left = a->begin(), right = b->begin();
  while (left != a->end() && right != b->end()) {
    if (left->row < right->row) {
      both.push_back(*left++);
    } else if (right->row < left->row) {
      both.push_back(*right++);
    } else {
      both.push_back({left->row, std::min(left++->length_ns, right++->length_ns)});
    }
  }
  both.insert(both.end(), left, a->end());
  both.insert(both.end(), right, b->end());
  return std::make_shared<const std::vector<OpLength>>(std::move(both));
}

std::shared_ptr<const Intervals> Both(const std::shared_ptr<const Intervals>& a,
                                      const std::shared_ptr<const Intervals>& b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  Intervals both = *a;
  both.insert(both.end(), b->begin(), b->end());
  return std::make_shared<const Intervals>(Merge(std::move(both)));
}

// Without what either is without.
Scenario Both(const Scenario& a, const Scenario& b) {
  Scenario both = a;
  for (std::size_t cause = 0; cause < kIdleCauses; ++cause)
    both.without[cause] = a.without[cause] || b.without[cause];
  both.without_launching = a.without_launching || b.without_launching;
  both.without_communication = a.without_communication || b.without_communication;
  both.upload_rate = std::max(a.upload_rate, b.upload_rate);
  both.recorder_ns = std::max(a.recorder_ns, b.recorder_ns);
  both.lengths = Both(a.lengths, b.lengths);
  both.gone = Both(a.gone, b.gone);
  return both;
}

class FixPlanner {
 public:
  FixPlanner(const DeviceAnalysis& judged, const Savings& savings, StopFlag stop)
      : judged_(judged),
        savings_(savings),
        stop_(stop),
        replay_(*judged.rank, *judged.device, judged.timeline, judged.causes, judged.steps) {}

  FixOrder Plan(const CauseSaving* first) {
    FixOrder order;
    if (first != nullptr) Fixes(first, order.fixes);
    Interactions(first, order.interactions);
    return IsStopped(stop_) ? FixOrder() : order;
  }

 private:
  // Mean over the steps that count for the cause.
  double Mean(const std::vector<TimeNs>& lengths, const CauseSaving& cause) const {
    const std::vector<bool> use = StepsOfCause(judged_, cause.label);
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      if (!use[i]) continue;
      sum += static_cast<double>(lengths[i]);
      ++count;
    }
    return count == 0 ? 0 : sum / count;
  }

  bool IsReplayed(const CauseSaving& cause) const {
    return cause.scenario && replay_.Changes(*cause.scenario);
  }

  void Fixes(const CauseSaving* first, std::vector<Fix>& fixes) const {
    std::vector<const CauseSaving*> left;
    for (const CauseSaving& cause : savings_.causes) {
      // What nobody knows cannot be fixed.
      if (&cause != first && cause.label != kHostWaitLabel &&
          (cause.finding != nullptr || IsReplayed(cause)))
        left.push_back(&cause);
    }
    Scenario gone = savings_.unchanged;
    double step_ns = savings_.step_ns - savings_.recording_ns;
    for (Fix next{first, first->saved_ns}; next.cause != nullptr;
         next = Next(gone, left, step_ns)) {
      fixes.push_back(next);
      step_ns -= next.saved_ns;
      if (next.cause->scenario) gone = Both(gone, *next.cause->scenario);
      left.erase(std::remove_if(left.begin(), left.end(),
                                [&](const CauseSaving* cause) {
                                  return cause == next.cause || (cause->finding != nullptr &&
                                                                 next.cause->finding != nullptr);
                                }),
                 left.end());
      if (fixes.size() == kMaxFixes || IsStopped(stop_)) return;
    }
  }

  // What then saves most, if it is above the floor.
  Fix Next(const Scenario& gone, const std::vector<const CauseSaving*>& left,
           double step_ns) const {
    std::vector<Scenario> scenarios = {gone};
    for (const CauseSaving* cause : left) {
      if (IsReplayed(*cause)) scenarios.push_back(Both(gone, *cause->scenario));
    }
    const std::vector<std::vector<TimeNs>> lengths = ReplayAll(replay_, scenarios, stop_);
    Fix next;
    if (IsStopped(stop_)) return next;
    auto without = lengths.begin() + 1;
    for (const CauseSaving* cause : left) {
      double saved_ns = cause->saved_ns;
      if (IsReplayed(*cause)) {
        const double then_ns = Mean(lengths[0], *cause) - Mean(*without++, *cause);
        // Of a cause between ranks, the peers say how much of it the job gets back.
        saved_ns = std::min(then_ns, cause->finding != nullptr ? saved_ns : cause->most_ns);
      }
      saved_ns = std::min(saved_ns, step_ns);  // what the fixes before it saved is gone
      if (saved_ns >= FloorOf(step_ns) && saved_ns > next.saved_ns) next = {cause, saved_ns};
    }
    return next;
  }

  struct Order {
    const CauseSaving* cause = nullptr;
    double first_ns = 0, last_ns = 0;  // saved, fixed before and after all others
    double difference() const { return std::abs(first_ns - last_ns); }
  };

  void Interactions(const CauseSaving* verdict, std::vector<std::string>& sentences) const {
    std::vector<const CauseSaving*> causes;
    for (const CauseSaving& cause : savings_.causes) {
      if (IsReplayed(cause)) causes.push_back(&cause);
    }
    if (causes.size() < 2) return;
    // Without the causes from the last to each.
    std::vector<Scenario> later = {savings_.unchanged};
    for (auto cause = causes.rbegin(); cause != causes.rend(); ++cause)
      later.push_back(Both(later.back(), *(*cause)->scenario));
    std::vector<Scenario> scenarios = {savings_.unchanged, std::move(later.back())};
    Scenario earlier = savings_.unchanged;
    for (const CauseSaving* cause : causes) {
      later.pop_back();
      scenarios.push_back(Both(savings_.unchanged, *cause->scenario));
      scenarios.push_back(Both(earlier, later.back()));
      earlier = Both(earlier, *cause->scenario);
    }
    const std::vector<std::vector<TimeNs>> lengths = ReplayAll(replay_, scenarios, stop_);
    if (IsStopped(stop_)) return;
    std::vector<Order> orders;
    for (std::size_t i = 0; i < causes.size(); ++i) {
      const CauseSaving& cause = *causes[i];
      const double now_ns = Mean(lengths[0], cause), ideal_ns = Mean(lengths[1], cause);
      const Order order{&cause, now_ns - Mean(lengths[2 + 2 * i], cause),
                        Mean(lengths[3 + 2 * i], cause) - ideal_ns};
      const double all_ns = now_ns - ideal_ns;
      if (all_ns >= FloorOf(now_ns) && order.difference() > kInteracting * all_ns)
        orders.push_back(order);
    }
    Describe(orders, verdict, sentences);
  }

  // The two whose order matters most, the verdict's first.
  void Describe(std::vector<Order> orders, const CauseSaving* verdict,
                std::vector<std::string>& sentences) const {
    if (orders.size() < 2) return;  // a cause cannot depend on itself
    std::stable_sort(orders.begin(), orders.end(), [&](const Order& a, const Order& b) {
      return std::pair(a.cause == verdict, a.difference()) >
             std::pair(b.cause == verdict, b.difference());
    });
    const CauseSaving &first = *orders[0].cause, &second = *orders[1].cause;
    const Scenario gone = Both(savings_.unchanged, *second.scenario);
    const std::vector<std::vector<TimeNs>> lengths =
        ReplayAll(replay_, {gone, Both(gone, *first.scenario)}, stop_);
    if (IsStopped(stop_)) return;
    const double then_ns = Mean(lengths[0], first) - Mean(lengths[1], first);
    sentences.push_back(fmt::format(
        "the order matters: {0} saves {2} now, and {3} once {1} is gone. {0} first, then {1}",
        NameOf(first), NameOf(second), Rounded(first.saved_ns), Rounded(then_ns)));
  }

  const DeviceAnalysis& judged_;
  const Savings& savings_;
  const StopFlag stop_;
  const Replay replay_;
};

}  // namespace

FixOrder FindFixOrder(const DeviceAnalysis& judged, const Savings& savings,
                      const CauseSaving* first, StopFlag stop) {
  return FixPlanner(judged, savings, stop).Plan(first);
}

}  // namespace traceinject
