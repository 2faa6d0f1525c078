// SPDX-License-Identifier: Apache-2.0
#include "injector/store/slices.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "injector/base/clock.h"
#include "injector/testing/test_support.h"

namespace traceinject {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

RowBounds Kernels(std::int64_t last) {
  RowBounds bounds;
  bounds.last[0] = last;
  return bounds;
}

TEST(SlicesTest, ASliceIsATwentiethOfTheRoom) {
  Slices slices({1'000'000, 0}, 1'000'000);
  for (int i = 1; i <= 10; ++i)
    slices.Add(10'000, Kernels(i), static_cast<std::uint32_t>(i), {i, 0});
  ASSERT_EQ(slices.closed().size(), 2U);  // of 50,000 bytes
  EXPECT_EQ(slices.closed()[0].bounds.last[0], 5);
  EXPECT_EQ(slices.closed()[0].end.time, 5);
  EXPECT_EQ(slices.closed()[0].flush, 5U);
  EXPECT_EQ(slices.closed()[1].bounds.last[0], 10);
  slices.Drop(1);
  ASSERT_EQ(slices.closed().size(), 1U);
  EXPECT_EQ(slices.closed()[0].bounds.last[0], 10);
}

TEST(SlicesTest, ASliceIsATwentiethOfTheTime) {
  Slices slices({1 << 30, 40 * kSecond}, 1 << 30);
  for (int second = 0; second < 100; ++second)
    slices.Add(1, Kernels(second), 0, {0, second * kSecond});
  ASSERT_GT(slices.closed().size(), 30U);  // of 2 s and the transaction that ends them
  const Slices::Slice& first = slices.closed().front();
  EXPECT_EQ(first.end.monotonic_ns, 2 * kSecond);
  EXPECT_FALSE(slices.TooOld(first, 42 * kSecond));
  EXPECT_TRUE(slices.TooOld(first, 42 * kSecond + 1));
}

TEST(SlicesTest, WithoutATimeNothingIsTooOld) {
  Slices slices({1'000'000, 0}, 1'000'000);
  slices.Add(100'000, Kernels(1), 0, {0, 0});
  EXPECT_FALSE(slices.TooOld(slices.closed().front(), 1'000'000 * kSecond));
}

TEST(SlicesTest, TheRoomIsSharedOut) {
  for (const std::int64_t most : {std::int64_t{16} << 20, std::int64_t{4} << 30}) {
    const KeepLastRoom room({most, 0});
    EXPECT_EQ(room.log_bytes + room.transaction_bytes + room.database_bytes, most);
    EXPECT_GE(room.database_bytes, most / 100 * 95);
    EXPECT_GT(RowsOfBytes(room.transaction_bytes), 1000U);
  }
}

// What was written by random batches, beside the file.
class KeptFile {
 public:
  KeptFile(const KeepLast& keep, RunFile::Journal journal, unsigned seed) : random_(seed) {
    header_ = TestHeader(journal);
    header_.base_ns = NowNs();
    header_.process.start = 0;
    header_.keep_last = keep;
    std::string why;
    file_ = RunFile::Create(folder_ / "run.db", header_, &why);
    EXPECT_TRUE(file_) << why;
  }
  ~KeptFile() { file_->Finish(Now()); }

  // One that fails leaves no trace here either.
  bool TryToWriteSome() {
    const auto before = std::tuple(number_, open_row_, collective_, open_, kernel_ends_,
                                   range_ends_, collective_ends_);
    if (WriteSome()) return true;
    std::tie(number_, open_row_, collective_, open_, kernel_ends_, range_ends_, collective_ends_) =
        before;
    return false;
  }

  bool WriteSome() {
    Batch batch;
    batch.flush = ++flush_;
    const int kernels = Below(2500);
    for (int i = 0; i < kernels; ++i) {
      const std::int64_t end = Now() - Below(1'000'000), dur = Below(1'000'000);
      batch.kernels.push_back({end - dur, dur, 1, 1, ++number_, 0});
      kernel_ends_[number_] = end;
    }
    // Ranges: some are stored while open, and end later or never.
    for (int i = Below(50); i > 0; --i) {
      NvtxRow row{};
      row.start = Now();
      row.thread = row.domain = 1;
      row.kind = 2;
      row.dur = -1;
      row.row = ++open_row_;
      open_[row.row] = row;
      batch.nvtx.push_back(row);
    }
    for (auto at = open_.begin(); at != open_.end();) {
      if (Below(10) != 0 || at->first % 100 == 1) {
        ++at;
        continue;
      }
      at->second.dur = Now() - at->second.start;
      range_ends_[at->first] = Now();
      batch.nvtx.push_back(at->second);
      at = open_.erase(at);
    }
    // Operations end out of order.
    for (int i = Below(20); i > 0; --i) {
      const auto end = Now();
      batch.collectives.push_back({collective_ + 1 + static_cast<std::uint64_t>(Below(30)),
                                   end - 10, 10, 1, 1, 0, 8, 0, -1, -1});
      collective_ends_[batch.collectives.back().id] = end;
    }
    collective_ += 10;
    return file_->Write(batch);
  }

  bool WriteNothing() {
    Batch batch;
    batch.flush = ++flush_;
    return file_->Write(batch);
  }

  std::int64_t Bytes() const { return file_->bytes(); }
  std::string Rows(const std::string& sql) const { return Query(file_->path(), sql); }
  std::int64_t Number(const std::string& sql) const {
    const std::string text = Rows(sql);
    return text.empty() ? 0 : std::stoll(text);
  }

  // From when on everything is there.
  std::int64_t KeptFrom() const {
    return Number("SELECT start + dur FROM capture_gap WHERE reason = 'keep_last'");
  }

  void ExpectAllKept() const {
    const std::int64_t from = KeptFrom();
    ExpectThere("SELECT correlation FROM kernel", kernel_ends_, from);
    ExpectThere("SELECT -rowid FROM nvtx WHERE dur IS NOT NULL", range_ends_, from);
    ExpectThere("SELECT id FROM collective", collective_ends_, from);
    const std::set<std::uint64_t> open = Ids("SELECT -rowid FROM nvtx WHERE dur IS NULL");
    for (const auto& [row, range] : open_) EXPECT_TRUE(open.contains(row)) << row;
    EXPECT_EQ(open.size(), open_.size());
  }

  std::int64_t written() const { return static_cast<std::int64_t>(number_); }
  int Below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }

 private:
  std::int64_t Now() const { return NowNs() - header_.base_ns; }

  std::set<std::uint64_t> Ids(const std::string& sql) const {
    std::set<std::uint64_t> ids;
    std::istringstream rows(Rows(sql));
    for (std::uint64_t id = 0; rows >> id;) ids.insert(id);
    return ids;
  }
  void ExpectThere(const std::string& sql, const std::map<std::uint64_t, std::int64_t>& ends,
                   std::int64_t from) const {
    const std::set<std::uint64_t> there = Ids(sql);
    std::size_t missing = 0;
    for (const auto& [id, end] : ends) missing += end > from && !there.contains(id) ? 1 : 0;
    EXPECT_EQ(missing, 0U) << sql;
    for (const std::uint64_t id : there) EXPECT_TRUE(ends.contains(id)) << sql << ' ' << id;
  }

  TemporaryFolder folder_;
  RunFile::Header header_;
  std::unique_ptr<RunFile> file_;
  std::mt19937 random_;
  std::uint32_t flush_ = 0;
  std::uint64_t number_ = 0, open_row_ = 0, collective_ = 0;
  std::map<std::uint64_t, NvtxRow> open_;
  std::map<std::uint64_t, std::int64_t> kernel_ends_, range_ends_, collective_ends_;
};

class KeptFileTest : public testing::TestWithParam<RunFile::Journal> {};

// More than five times what the file may hold.
TEST_P(KeptFileTest, StaysWithinItsLimitAndKeepsTheEndWhole) {
  constexpr std::int64_t kLimit = 8 << 20;
  KeptFile file({kLimit, 0}, GetParam(), 7);
  std::int64_t largest = 0;
  for (int i = 0; i < 1500; ++i) {
    ASSERT_TRUE(file.WriteSome());
    largest = std::max(largest, file.Bytes());
    if (i % 300 == 299) file.ExpectAllKept();
  }
  EXPECT_LE(largest, kLimit + kLimit / 20);
  EXPECT_GE(file.Bytes(), kLimit - kLimit / 10) << "what may be used is used";
  EXPECT_GT(file.KeptFrom(), 0);
  // About 30 bytes a row.
  EXPECT_GT(file.written() * 25, 5 * kLimit);
  EXPECT_GT(file.Number("SELECT count(*) FROM kernel") * 40, kLimit / 2);
  EXPECT_EQ(file.Rows("PRAGMA integrity_check"), "ok");
}

TEST_P(KeptFileTest, WhatWasRemovedIsCounted) {
  KeptFile file({4 << 20, 0}, GetParam(), 8);
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(file.WriteSome());
  const std::int64_t removed =
      file.Number("SELECT value FROM health WHERE source = 'kernel' AND counter = 'expired'");
  EXPECT_GT(removed, 0);
  EXPECT_EQ(removed + file.Number("SELECT count(*) FROM kernel"), file.written());
}

INSTANTIATE_TEST_SUITE_P(Journals, KeptFileTest,
                         testing::Values(RunFile::Journal::kWriteAhead,
                                         RunFile::Journal::kTruncate),
                         JournalName);

TEST(KeptFileTimeTest, WhatIsOlderGoesAlthoughThereIsRoom) {
  // 1 ns: each slice is too old once the next one is there.
  KeptFile file({1 << 30, 1}, RunFile::Journal::kWriteAhead, 9);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(file.WriteSome());
  file.ExpectAllKept();
  EXPECT_GT(file.KeptFrom(), 0);
  EXPECT_LE(file.Number("SELECT count(*) FROM kernel"), 4000);
}

// A program that stands still for longer than is kept: its tables are empty when it goes on, and
// SQLite would number rows from 1 again, which slices after that take for those of before.
TEST(KeptFileTimeTest, WhatComesAfterAPauseIsKept) {
  using std::chrono::milliseconds;
  constexpr milliseconds kKept{50};
  KeptFile file({1 << 30, std::chrono::nanoseconds(kKept).count()}, RunFile::Journal::kWriteAhead,
                11);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(file.WriteSome());
  // The first ends the slice that is open, the second drops all.
  for (int i = 0; i < 2; ++i) {
    std::this_thread::sleep_for(2 * kKept);
    ASSERT_TRUE(file.WriteNothing());
  }
  EXPECT_EQ(file.Number("SELECT count(*) FROM kernel"), 0);
  const std::int64_t before = file.KeptFrom();
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(file.WriteSome());
    file.ExpectAllKept();
    std::this_thread::sleep_for(kKept / 20);
  }
  EXPECT_GT(file.KeptFrom(), before) << "slices of after the pause went, too";
}

TEST(KeptFileLossTest, ACommitThatFailedRemovesNothing) {
  KeptFile file({4 << 20, 0}, RunFile::Journal::kWriteAhead, 10);
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(file.WriteSome());
  const std::int64_t kept_from = file.KeptFrom();
  EXPECT_GT(kept_from, 0);
  // What is removed cannot be counted, so that transactions which remove fail at their end.
  EXPECT_EQ(file.Rows("ALTER TABLE health RENAME TO lost"), "");
  int failed = 0;  // a small one may fit without removing anything
  for (int i = 0; i < 40; ++i) failed += file.TryToWriteSome() ? 0 : 1;
  EXPECT_GT(failed, 20);
  EXPECT_EQ(file.KeptFrom(), kept_from);
  file.ExpectAllKept();
  EXPECT_EQ(file.Rows("ALTER TABLE lost RENAME TO health"), "");
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(file.WriteSome());
  EXPECT_GT(file.KeptFrom(), kept_from);
  file.ExpectAllKept();
}

TEST(ForgottenRangesTest, RangesThatNeverEndDoNotFillTheFile) {
  TemporaryFolder folder;
  RunFile::Header header = TestHeader();
  header.keep_last = KeepLast{32 << 20, 1};
  std::string why;
  auto file = RunFile::Create(folder / "run.db", header, &why);
  ASSERT_TRUE(file) << why;
  constexpr int kBatches = 100, kRows = 2000;
  NvtxRow row{};
  row.thread = row.domain = 1;
  row.kind = 1;
  row.dur = -1;
  for (int i = 0; i < kBatches; ++i) {
    Batch batch;
    for (int j = 0; j < kRows; ++j) {
      ++row.row;
      batch.nvtx.push_back(row);
    }
    ASSERT_TRUE(file->Write(batch)) << file->last_error();
  }
  const std::string count = Query(file->path(), "SELECT count(*), max(-rowid) FROM nvtx");
  const auto kept = std::stoll(count);
  EXPECT_GE(kept, RowWriter::kMaxKeptOpen);
  EXPECT_LE(kept, RowWriter::kMaxKeptOpen + 2 * kRows);
  EXPECT_EQ(count.substr(count.find('|') + 1), std::to_string(kBatches * kRows)) << "the newest";
  file->Finish(0);
}

}  // namespace
}  // namespace traceinject
