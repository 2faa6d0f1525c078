// SPDX-License-Identifier: Apache-2.0
// The table of sets, and, where a libcupti of a toolkit is installed, whether its chips collect
// each set in one pass: it answers that without a GPU. TRACEINJECT_CUPTI names another one.
#include "injector/counters/counter_sets.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <set>

#include "injector/counters/pm_library.h"
#include "machine/cupti_candidates.h"

namespace traceinject {
namespace {

constexpr std::string_view kChips[] = {
    "TU102", "TU104", "TU106", "TU116", "TU117", "GA100", "GA102", "GA103", "GA104", "GA106",
    "GA107", "GA10B", "GH100", "AD102", "AD103", "AD104", "AD106", "AD107", "GB100", "GB102",
    "GB110", "GB10B", "GB202", "GB203", "GB205", "GB206", "GB207", "GB20B"};

TEST(CounterSetsTest, EveryCounterIsNamedOnce) {
  std::set<std::string_view> names;
  for (const CounterInfo& info : kCounterInfos) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(InfoOf(*FindCounter(info.name)).name, info.name);
    EXPECT_FALSE(info.description.empty());
  }
  EXPECT_FALSE(FindCounter("of_a_later_version"));
}

TEST(CounterSetsTest, SetsOfAChipAreRichestFirst) {
  for (const std::string_view chip : kChips) {
    const std::vector<CounterSet> sets = CounterSetsOf(chip);
    ASSERT_FALSE(sets.empty());
    std::size_t before = 100;
    std::set<std::uint64_t> hashes;
    for (const CounterSet& set : sets) {
      EXPECT_LE(set.metrics.size(), before) << chip << " " << set.name;
      before = set.metrics.size();
      EXPECT_TRUE(hashes.insert(HashOf(set)).second) << chip << " " << set.name;
      std::set<CounterId> counters;
      for (const CounterMetric& metric : set.metrics) {
        EXPECT_TRUE(counters.insert(metric.counter).second) << chip << " " << metric.metric;
        EXPECT_EQ(InfoOf(metric.counter).unit,
                  metric.counter == CounterId::kSmClock ? kMegahertz : kPermille);
      }
      // By which samples are aligned with kernels.
      EXPECT_TRUE(counters.contains(CounterId::kSmActive)) << chip << " " << set.name;
    }
  }
  EXPECT_TRUE(CounterSetsOf("GV100").empty());
  EXPECT_TRUE(CounterSetsOf("").empty());
  EXPECT_TRUE(SamplesByTime("GH100"));
  EXPECT_FALSE(SamplesByTime("GA100"));
}

TEST(CounterSetsTest, AHashIsOfTheMetrics) {
  const std::vector<CounterSet> sets = CounterSetsOf("GH100");
  EXPECT_NE(HashOf(sets[0]), HashOf(sets[1]));
  EXPECT_EQ(HashOf(sets[0]), HashOf({"another name", sets[0].metrics}));
}

TEST(CounterSetsTest, MetricsOfGpmFitIntoOneQuestion) {
  EXPECT_LE(GpmMetrics().size(), 98U);
  std::set<unsigned int> numbers;
  for (const GpmMetric& metric : GpmMetrics()) EXPECT_TRUE(numbers.insert(metric.metric).second);
}

// 0: the library does not know the chip. Negative: a metric of the set is not one of the chip.
long PassesOf(const PmLibrary& cupti, const std::string& chip, const CounterSet& set) {
  auto host = pm::Make<pm::HostInitialize>();
  host.type = pm::kTypePmSampling;
  host.chip = chip.c_str();
  if (cupti.HostInitialize(&host) != pm::kSuccess) return 0;
  std::vector<const char*> metrics;
  for (const CounterMetric& metric : set.metrics) metrics.push_back(metric.metric);
  auto add = pm::Make<pm::ConfigAddMetrics>();
  add.host = host.host;
  add.metrics = metrics.data();
  add.count = metrics.size();
  long passes = -1;
  auto size = pm::Make<pm::GetConfigImageSize>();
  size.host = host.host;
  if (cupti.ConfigAddMetrics(&add) == pm::kSuccess &&
      cupti.GetConfigImageSize(&size) == pm::kSuccess) {
    std::vector<std::uint8_t> bytes(size.bytes);
    auto image = pm::Make<pm::GetConfigImage>();
    image.host = host.host;
    image.bytes = bytes.size();
    image.image = bytes.data();
    auto count = pm::Make<pm::GetNumOfPasses>();
    count.bytes = bytes.size();
    count.image = bytes.data();
    if (cupti.GetConfigImage(&image) == pm::kSuccess &&
        cupti.GetNumOfPasses(&count) == pm::kSuccess)
      passes = static_cast<long>(count.passes);
  }
  auto end = pm::Make<pm::HostDeinitialize>();
  end.host = host.host;
  cupti.HostDeinitialize(&end);
  return passes;
}

TEST(CounterSetsTest, EverySetTakesOnePass) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "libcupti loads its host part with RTLD_DEEPBIND, which sanitizers refuse";
#endif
  const char* configured = getenv("TRACEINJECT_CUPTI");
  std::optional<PmLibrary> cupti;
  for (const std::string& path : CuptiCandidates(configured == nullptr ? "" : configured, "")) {
    cupti = BindPmSampling(dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL));
    if (cupti) break;
  }
  if (!cupti) GTEST_SKIP() << "there is no libcupti of CUDA 12.6 or later";
  int known = 0;
  for (const std::string_view chip : kChips) {
    for (const CounterSet& set : CounterSetsOf(chip)) {
      const long passes = PassesOf(*cupti, std::string(chip), set);
      if (passes == 0) continue;
      ++known;
      EXPECT_EQ(passes, 1) << chip << " " << set.name;
    }
  }
  if (known == 0) GTEST_SKIP() << "a stand-in that knows no chip";
}

}  // namespace
}  // namespace traceinject
