// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/loops.h"

#include <algorithm>
#include <map>
#include <utility>

namespace traceinject {
namespace {

constexpr std::size_t kRepeated = 16;  // times in a row
constexpr double kLoopWork = 0.6;
// A loop in a loop is interrupted in each body of the outer one, which is not.
constexpr std::size_t kFewerRuns = 4;

// Elements [begin, end) that are repeated with one distance.
struct Stretch {
  std::size_t begin = 0, end = 0;
};

std::vector<Stretch> StretchesOf(const std::vector<std::uint32_t>& elements, std::size_t distance) {
  std::vector<Stretch> runs;
  std::size_t begin = 0;
  const auto close = [&](std::size_t end) {
    if (end - begin >= (kRepeated - 1) * distance) runs.push_back({begin, end + distance});
    begin = end + 1;
  };
  for (std::size_t i = 0; i + distance < elements.size(); ++i) {
    if (elements[i] != elements[i + distance]) close(i);
  }
  if (elements.size() > distance) close(elements.size() - distance);
  return runs;
}

std::size_t Repetitions(const std::vector<Stretch>& runs, std::size_t length) {
  std::size_t all = 0;
  for (const Stretch& run : runs) all += (run.end - run.begin) / length;
  return all;
}

struct Repeated {
  std::size_t length = 0;
  std::vector<Stretch> runs;

  std::size_t count() const { return Repetitions(runs, length); }
};

class LoopFinder {
 public:
  explicit LoopFinder(const LaunchSequence& sequence) : sequence_(sequence) {}

  std::optional<Loop> Find() const {
    std::optional<Repeated> best;
    for (std::size_t length = 1; length <= std::min(kLongestBody, sequence_.size() / kRepeated);
         ++length) {
      Repeated found{length, OfOneBody(StretchesOf(sequence_.name, length), length)};
      if (Covered(found.runs) < kLoopWork) continue;
      if (!best || Holds(found, *best)) best = std::move(found);
    }
    if (!best) return std::nullopt;
    return LoopOf(*best);
  }

 private:
  // Those of the body with kernels that makes up most of the work.
  std::vector<Stretch> OfOneBody(const std::vector<Stretch>& runs, std::size_t length) const {
    std::map<std::vector<std::uint32_t>, std::vector<Stretch>> by_body;
    for (const Stretch& run : runs) {
      const auto first = sequence_.name.begin() + static_cast<std::ptrdiff_t>(run.begin);
      std::vector<std::uint32_t> body(first, first + static_cast<std::ptrdiff_t>(length));
      const bool computes = std::any_of(body.begin(), body.end(), [this](std::uint32_t name) {
        return sequence_.names[name].kernel;
      });
      if (!computes) continue;  // such as the copies of all weights
      std::sort(body.begin(), body.end());
      by_body[std::move(body)].push_back(run);
    }
    std::vector<Stretch> most;
    double most_covered = 0;
    for (auto& [body, of_body] : by_body) {
      const double covered = Covered(of_body);
      if (covered <= most_covered) continue;
      most_covered = covered;
      most = std::move(of_body);
    }
    return most;
  }

  double Covered(const std::vector<Stretch>& runs) const {
    TimeNs covered_ns = 0;
    for (const Stretch& run : runs) covered_ns += sequence_.LengthOf(run.begin, run.end);
    return static_cast<double>(covered_ns) /
           static_cast<double>(std::max<TimeNs>(1, sequence_.busy_ns));
  }

  // Whether the body is repeated in each body of another loop.
  static bool Holds(const Repeated& outer, const Repeated& inner) {
    return kFewerRuns * outer.runs.size() <= inner.runs.size() &&
           outer.count() > inner.count() / inner.runs.size();
  }

  Loop LoopOf(const Repeated& from) const {
    Loop loop;
    loop.covered = Covered(from.runs);
    for (const Stretch& run : from.runs) {
      // What is in two of them belongs to the first.
      const std::size_t first = std::max<std::size_t>(run.begin, loop.end);
      for (std::size_t begin = first; begin + from.length <= run.end; begin += from.length) {
        loop.begins.push_back(static_cast<std::uint32_t>(begin));
        loop.end = static_cast<std::uint32_t>(begin + from.length);
      }
    }
    for (std::size_t i = 0; i < from.length; ++i)
      loop.takes_data |= sequence_.names[sequence_.name[loop.begins.front() + i]].upload;
    loop.one_kernel =
        from.length == 1 && !sequence_.names[sequence_.name[loop.begins.front()]].whole;
    return loop;
  }

  const LaunchSequence& sequence_;
};

}  // namespace

std::optional<Loop> FindLoop(const LaunchSequence& sequence) { return LoopFinder(sequence).Find(); }

}  // namespace traceinject
