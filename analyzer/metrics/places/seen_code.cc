// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/seen_code.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace traceinject {
namespace {

// The file of Python's own import system, on the stack while a module is imported.
constexpr std::string_view kImportSystem = "<frozen importlib";

}  // namespace

SeenCode::SeenCode(const Rank& rank, const std::vector<bool>& threads) : rank_(rank), sites_(rank) {
  std::vector<LookRuns> all = LooksOfThreads(rank);
  for (std::size_t i = 0; i < all.size() && i < threads.size(); ++i) {
    if (threads[i]) runs_.push_back(std::move(all[i]));
  }
}

std::vector<double> SeenCode::Tally(const Intervals& times) const {
  std::vector<double> looks(rank_.places.size());
  for (const LookRuns& runs : runs_) {
    LookSweep sweep(runs);
    for (const Interval& time : times) {
      sweep.ForEach(time, [&](std::uint32_t stack, const LooksIn& in) {
        const CodeSite site = sites_.Of(stack);
        if (site.place != kNone && site.own) looks[site.place] += in.looks;
      });
    }
  }
  return looks;
}

std::uint32_t SeenCode::MostIn(const Intervals& times, const Intervals& others,
                               double weight) const {
  std::vector<double> looks = Tally(times);
  if (!others.empty()) {
    const std::vector<double> usual = Tally(others);
    for (std::size_t i = 0; i < looks.size(); ++i) looks[i] -= weight * usual[i];
  }
  const auto most = std::max_element(looks.begin(), looks.end());
  if (most == looks.end() || *most <= 0) return kNone;
  return static_cast<std::uint32_t>(most - looks.begin());
}

bool SeenCode::Imports(std::uint32_t stack) const {
  for (; stack != kNone; stack = rank_.stacks[stack].caller) {
    const std::uint32_t file = rank_.places[rank_.stacks[stack].place].file;
    if (rank_.string(file).starts_with(kImportSystem)) return true;
  }
  return false;
}

double SeenCode::ImportingShare(Interval time) const {
  double all = 0, importing = 0;
  for (const LookRuns& runs : runs_) {
    LookSweep sweep(runs);
    sweep.ForEach(time, [&](std::uint32_t stack, const LooksIn& in) {
      all += in.looks;
      importing += Imports(stack) ? in.looks : 0;
    });
  }
  return all > 0 ? importing / all : 0;
}

}  // namespace traceinject
