// SPDX-License-Identifier: Apache-2.0
#include "injector/counters/known_sets.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

using Known = KnownSets::Known;

constexpr CounterMetric kOne[] = {{CounterId::kSmActive, "one"}};
constexpr CounterMetric kOther[] = {{CounterId::kSmActive, "other"}};

// Where sets of GH100 with a driver "1" and a CUPTI 1 are kept below a folder.
std::string PathIn(const TemporaryFolder& folder) {
  return (folder / "cache") + "/traceinject/counters/GH100-1-1";
}

std::string Text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(KnownSetsTest, AreKnownAtTheNextStart) {
  TemporaryFolder folder;
  const CounterSet one{"basic", kOne}, other{"basic", kOther};
  {
    KnownSets sets(folder / "cache", "GH100", "580.65.06", 130001);
    EXPECT_EQ(sets.Find(one), Known::kNot);
    EXPECT_TRUE(sets.Add(one, true));
    EXPECT_TRUE(sets.Add(other, false));
  }
  const KnownSets again(folder / "cache", "GH100", "580.65.06", 130001);
  EXPECT_EQ(again.Find(one), Known::kPassed);
  EXPECT_EQ(again.Find(other), Known::kFailed) << "its metrics differ, whatever it is called";
  struct stat facts {};
  const std::string path = (folder / "cache") + "/traceinject/counters/GH100-580.65.06-130001";
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
}

TEST(KnownSetsTest, AnotherDriverIsAnotherFile) {
  TemporaryFolder folder;
  const CounterSet one{"basic", kOne};
  KnownSets(folder / "cache", "GH100", "580.65.06", 130001).Add(one, true);
  EXPECT_EQ(KnownSets(folder / "cache", "GH100", "590", 130001).Find(one), Known::kNot);
  EXPECT_EQ(KnownSets(folder / "cache", "GH100", "580.65.06", 24).Find(one), Known::kNot);
}

TEST(KnownSetsTest, OnlyAFileOfOursIsBelieved) {
  TemporaryFolder folder;
  const CounterSet one{"basic", kOne};
  KnownSets sets(folder / "cache", "GH100", "1", 1);
  ASSERT_TRUE(sets.Add(one, true));
  ASSERT_EQ(chmod(PathIn(folder).c_str(), 0666), 0);
  EXPECT_EQ(KnownSets(folder / "cache", "GH100", "1", 1).Find(one), Known::kNot);
  ASSERT_EQ(chmod(PathIn(folder).c_str(), 0600), 0);
  EXPECT_EQ(KnownSets(folder / "cache", "GH100", "1", 1).Find(one), Known::kPassed);
  const std::string text = Text(PathIn(folder));
  std::ofstream(PathIn(folder)) << "another program's\n" << text;
  EXPECT_EQ(KnownSets(folder / "cache", "GH100", "1", 1).Find(one), Known::kNot);
}

TEST(KnownSetsTest, HostileLinesAreLeftOut) {
  TemporaryFolder folder;
  const CounterSet one{"basic", kOne};
  KnownSets sets(folder / "cache", "GH100", "1", 1);
  ASSERT_TRUE(sets.Add(one, true));
  std::ofstream(PathIn(folder), std::ios::app) << "passed\n\n \npassed zz x\nfailed 12\nmaybe 13 y";
  EXPECT_EQ(KnownSets(folder / "cache", "GH100", "1", 1).Find(one), Known::kPassed);
}

TEST(KnownSetsTest, WithoutAPlaceNothingIsKept) {
  KnownSets sets("", "GH100", "1", 1);
  EXPECT_FALSE(sets.Add({"basic", kOne}, true));
  EXPECT_EQ(sets.Find({"basic", kOne}), Known::kPassed) << "in this process it is";
  EXPECT_FALSE(KnownSets("/proc/nowhere", "GH100", "1", 1).Add({"basic", kOne}, true));
}

TEST(KnownSetsTest, TheCacheFolderOfAUser) {
  EXPECT_EQ(CacheFolder("/scratch/cache", "/home/a"), "/scratch/cache");
  EXPECT_EQ(CacheFolder("", "/home/a"), "/home/a/.cache");
  EXPECT_EQ(CacheFolder("relative", "/home/a"), "/home/a/.cache");
  EXPECT_EQ(CacheFolder("", ""), "");
}

// A chip's name comes from CUPTI, a driver's version from NVML.
TEST(KnownSetsTest, NamesLeadToNoOtherFolder) {
  TemporaryFolder folder;
  ASSERT_TRUE(KnownSets(folder / "cache", "../x", "", 7).Add({"basic", kOne}, true));
  EXPECT_NE(Text((folder / "cache") + "/traceinject/counters/.._x-unknown-7"), "");
}

}  // namespace
}  // namespace traceinject
