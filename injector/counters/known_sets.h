// SPDX-License-Identifier: Apache-2.0
// What earlier trials of sets of counters told (set_trial.h), so that later starts need none: a
// file in the user's cache folder for each chip, driver and version of CUPTI,
//
//   $XDG_CACHE_HOME/traceinject/counters/GH100-580.65.06-130001
//
// with a line for each set: what came of it, a hash of its metrics, its name. It is written anew in
// whole and put in place by a rename; only a file that is this user's alone to write is believed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "injector/counters/counter_sets.h"
#include "injector/counters/set_trial.h"

namespace traceinject {

class KnownSets {
 public:
  // `cache`: the user's cache folder; empty: there is none, and nothing is kept.
  KnownSets(const std::string& cache, std::string_view chip, std::string_view driver,
            std::uint32_t cupti_version);

  enum class Known { kNot, kPassed, kFailed };
  Known Find(const CounterSet& set) const;

  // Remembers what a trial told of the set itself: that it passed, was refused, or crashed. False:
  // it could not be written.
  bool Add(const CounterSet& set, bool passed);

 private:
  void Read();
  bool Write() const;

  std::string path_;  // empty: nothing is kept
  struct Line {
    bool passed;
    std::string name;
  };
  std::map<std::uint64_t, Line> lines_;  // by hash
};

// The user's cache folder by these variables, of which either may be empty; empty: there is none.
std::string CacheFolder(std::string_view xdg_cache_home, std::string_view home);

}  // namespace traceinject
