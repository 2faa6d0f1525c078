// SPDX-License-Identifier: Apache-2.0
#include "injector/rows/dictionary.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "machine/proc_files.h"

namespace traceinject {
namespace {

TEST(DictionaryTest, OneTextHasOneId) {
  Batch batch;
  Dictionary dictionary(&batch);
  const std::uint32_t first = dictionary.String("first");
  EXPECT_NE(dictionary.String("second"), first);
  EXPECT_EQ(dictionary.String("first"), first);
  ASSERT_EQ(batch.strings.size(), 2U);
  EXPECT_EQ(batch.strings[0].id, first);
  EXPECT_EQ(batch.strings[0].text, "first");
}

// As in a run of days whose ranges are numbered.
TEST(DictionaryTest, EndlessDifferentTextsTakeBoundedMemory) {
  Batch batch;
  Dictionary dictionary(&batch);
  const std::uint32_t often = dictionary.String("often");
  const char kept_name[] = "a kernel";
  const std::uint32_t stable = dictionary.StableString(kept_name);
  std::set<std::uint32_t> ids = {often, stable};
  std::size_t used = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint32_t id = dictionary.String("aten::add_, op_id = " + std::to_string(i));
    if (i % 97 == 0) {
      EXPECT_TRUE(ids.insert(id).second) << "an id was given twice";
    }
    if (i % 1000 == 0) {
      EXPECT_EQ(dictionary.String("often"), often);
      batch = Batch();  // stored
    }
    if (i == 300'000) used = mallinfo2().uordblks;
  }
  EXPECT_EQ(dictionary.StableString(kept_name), stable);
  EXPECT_LT(mallinfo2().uordblks, used + (20 << 20));
}

TEST(DictionaryTest, AStackIsATree) {
  Batch batch;
  Dictionary dictionary(&batch);
  const std::uint32_t outer = dictionary.Stack(0, dictionary.CodePlace("main", "a.py", 9, 1));
  const std::uint32_t place = dictionary.CodePlace("f", "a.py", 3, 2);
  const std::uint32_t inner = dictionary.Stack(outer, place);
  EXPECT_EQ(dictionary.Stack(outer, dictionary.CodePlace("f", "a.py", 3, 2)), inner);
  EXPECT_NE(dictionary.Stack(inner, place), inner) << "it calls itself";
  EXPECT_NE(dictionary.Stack(outer, place, "Net.fc"), inner);
  EXPECT_NE(dictionary.CodePlace("f", "a.py", 4, 2), place);
  ASSERT_EQ(batch.stacks.size(), 4U);
  EXPECT_EQ(batch.stacks[1].parent, outer);
  EXPECT_EQ(batch.code_places.size(), 3U);
  EXPECT_EQ(batch.strings.size(), 4U);
}

class DroppedRowsTest : public testing::Test {
 protected:
  // A flush in which a text and a shape are used that no other has.
  void FlushWithNewOnes(std::uint32_t number) {
    dictionary_.BeginFlush();
    dictionary_.String("step " + std::to_string(number));
    KernelShapeRow shape{};
    shape.grid[0] = static_cast<std::int32_t>(number);
    dictionary_.Shape(kKernel, shape);
    dictionary_.GraphNode(1, number);
    GemmShapeRow gemm{};
    gemm.m = number;
    dictionary_.GemmShape(kKernel, gemm);
    dictionary_.Thread(kFirstThread + number);
    dictionary_.NameThread(kFirstThread + number, "thread " + std::to_string(number));
    dictionary_.Stream(0, 1, number);
    dictionary_.WorkerEnded(number);
    const std::uint32_t place = dictionary_.CodePlace("f", "step " + std::to_string(number), 1, 1);
    dictionary_.Stack(dictionary_.Stack(0, place), place);
    workers_ += 1;
    Store();
  }
  // What the file would hold.
  void Store() {
    for (const StringRow& row : batch_.strings) texts_[row.id] = row.text;
    for (const KernelShapeRow& row : batch_.shapes) shapes_.insert(row.id);
    for (const std::uint32_t id : batch_.unused.strings) EXPECT_EQ(texts_.erase(id), 1U);
    for (const std::uint32_t id : batch_.unused.shapes) EXPECT_EQ(shapes_.erase(id), 1U);
    graph_nodes_ += static_cast<int>(batch_.graph_nodes.size()) -
                    static_cast<int>(batch_.unused.graph_nodes.size());
    gemm_shapes_ += static_cast<int>(batch_.gemm_shapes.size()) -
                    static_cast<int>(batch_.unused.gemm_shapes.size());
    for (const ThreadRow& row : batch_.threads) threads_[row.id] = row.name;
    for (const std::uint32_t id : batch_.unused.threads) EXPECT_EQ(threads_.erase(id), 1U);
    for (const StreamRow& row : batch_.streams) streams_[row.id] = row.priority;
    for (const std::uint32_t id : batch_.unused.streams) EXPECT_EQ(streams_.erase(id), 1U);
    for (const CodePlaceRow& row : batch_.code_places) EXPECT_TRUE(texts_.contains(row.file));
    code_places_ += static_cast<int>(batch_.code_places.size()) -
                    static_cast<int>(batch_.unused.code_places.size());
    stacks_ +=
        static_cast<int>(batch_.stacks.size()) - static_cast<int>(batch_.unused.stacks.size());
    workers_ -= static_cast<int>(batch_.unused.workers.size());
    batch_ = Batch();
  }

  static constexpr char kKernel[] = "a kernel";
  static constexpr std::int64_t kFirstThread = 1'000'000'000;  // the kernel gives no such number
  static constexpr std::uint32_t kKeptFlushes = 100, kFlushes = 20'000;
  // Forgetting waits until twice as much is known.
  static constexpr int kMax = 8000;
  Batch batch_;
  Dictionary dictionary_{&batch_, true};
  std::map<std::uint32_t, std::string> texts_;
  std::set<std::uint32_t> shapes_;
  std::map<std::uint32_t, std::uint32_t> threads_;  // with their names
  std::map<std::uint32_t, std::int32_t> streams_;   // with their priorities
  int graph_nodes_ = 0, gemm_shapes_ = 0, workers_ = 0, code_places_ = 0, stacks_ = 0;
};

// As in a recorder that is left on for a week and keeps the last minutes.
TEST_F(DroppedRowsTest, DictionariesLoseWhatNoKeptRowRefersTo) {
  dictionary_.BeginFlush();
  const std::uint32_t function = dictionary_.KeptString("AllReduce");
  const std::uint32_t open = dictionary_.String("a range that is open all the time");
  const std::uint32_t thread = dictionary_.Thread(kFirstThread), own = dictionary_.Thread(gettid());
  std::size_t most = 0;
  for (std::uint32_t flush = 2; flush < kFlushes; ++flush) {
    FlushWithNewOnes(flush);
    if (flush > kKeptFlushes) dictionary_.ForgetUnused(flush - kKeptFlushes, {{open}, {thread}});
    most = std::max(most, texts_.size());
  }
  EXPECT_LT(most, std::size_t{kMax});
  EXPECT_LT(shapes_.size(), std::size_t{kMax});
  EXPECT_LT(graph_nodes_, kMax);
  EXPECT_LT(gemm_shapes_, kMax);
  EXPECT_LT(threads_.size(), std::size_t{kMax});
  EXPECT_LT(streams_.size(), std::size_t{kMax});
  EXPECT_LT(workers_, kMax);
  EXPECT_LT(code_places_, kMax);
  EXPECT_LT(stacks_, kMax);
  // Everything that rows of the kept flushes refer to is there.
  for (std::uint32_t flush = kFlushes - kKeptFlushes; flush < kFlushes; ++flush) {
    const std::size_t before = batch_.strings.size();
    const std::uint32_t id = dictionary_.String("step " + std::to_string(flush));
    EXPECT_EQ(batch_.strings.size(), before) << "another id";
    EXPECT_TRUE(texts_.contains(id));
  }
  for (std::uint32_t flush = kFlushes - kKeptFlushes; flush < kFlushes; ++flush) {
    const std::uint32_t id = dictionary_.Thread(kFirstThread + flush);
    EXPECT_EQ(texts_[threads_.at(id)], "thread " + std::to_string(flush));
    EXPECT_TRUE(streams_.contains(dictionary_.Stream(0, 1, flush)));
  }
  EXPECT_TRUE(threads_.contains(thread)) << "the open range's";
  EXPECT_TRUE(threads_.contains(own)) << "it lives";
  EXPECT_EQ(texts_[function], "AllReduce");
  EXPECT_EQ(texts_[open], "a range that is open all the time");
}

TEST_F(DroppedRowsTest, WhatIsUsedAgainGetsANewRow) {
  dictionary_.DescribeStream(1, 1, -5, 1);
  FlushWithNewOnes(1);
  const std::uint32_t first = texts_.begin()->first;
  for (std::uint32_t flush = 2; flush < 2000; ++flush) FlushWithNewOnes(flush);
  dictionary_.ForgetUnused(1000, {});
  Store();
  EXPECT_FALSE(texts_.contains(first));
  EXPECT_NE(dictionary_.String("step 1"), first);
  EXPECT_EQ(batch_.strings.size(), 1U);
  const std::uint32_t stream = dictionary_.Stream(0, 1, 1);
  Store();
  EXPECT_EQ(streams_.at(stream), -5) << "what was told of it is still known";
}

TEST_F(DroppedRowsTest, RowsThatMayStillWaitKeepTheirs) {
  for (std::uint32_t flush = 1; flush < 2000; ++flush) FlushWithNewOnes(flush);
  dictionary_.ForgetUnused(1000, {});
  Store();
  const std::uint32_t unused_since = 1000 - Dictionary::kFlushesUntilStored;
  const auto known = [&](std::uint32_t flush) {
    const std::size_t before = batch_.strings.size();
    dictionary_.String("step " + std::to_string(flush));
    return batch_.strings.size() == before;
  };
  EXPECT_FALSE(known(unused_since));
  EXPECT_TRUE(known(unused_since + 1));
}

// What left memory because of its number is still in the file.
TEST_F(DroppedRowsTest, TextsThatWereForgottenLeaveTheFileToo) {
  constexpr int kTexts = 5 * static_cast<int>(Dictionary::kStringsKept);
  for (int i = 0; i < kTexts; ++i) {
    if (i % 1000 == 0) dictionary_.BeginFlush();
    dictionary_.String("op " + std::to_string(i));
  }
  Store();
  EXPECT_EQ(texts_.size(), std::size_t{kTexts});
  dictionary_.ForgetUnused(kTexts / 1000 + Dictionary::kFlushesUntilStored, {});
  Store();
  EXPECT_EQ(texts_.size(), 0U);
}

// As of a program that makes a stream for each step and uses few of them.
TEST(DictionaryTest, EndlessUnusedStreamsTakeBoundedMemory) {
  Batch batch;
  Dictionary dictionary(&batch);
  dictionary.DescribeStream(1, 0, -5, 1);
  dictionary.Stream(0, 1, 0);
  std::size_t used = 0;
  constexpr std::uint32_t kMany = 500'000;
  for (std::uint32_t i = 1; i <= kMany; ++i) {
    dictionary.DescribeStream(1, i, -1, 1);
    if (i == kMany / 10) used = mallinfo2().uordblks;
  }
  EXPECT_LT(mallinfo2().uordblks, used + (8 << 20));
  dictionary.Stream(0, 1, kMany);
  dictionary.NameStream(1, 0, "kept");
  ASSERT_EQ(batch.streams.size(), 3U);
  EXPECT_EQ(batch.streams[1].priority, -1);
  EXPECT_EQ(batch.streams[2].priority, -5) << "one in use is never forgotten";
}

TEST(DictionaryTest, AThreadIdThatIsUsedAgainIsAnotherThread) {
  constexpr std::int64_t kTid = 1'000'000'000;  // the kernel gives no such number
  Batch batch;
  Dictionary dictionary(&batch);
  const std::uint32_t first = dictionary.Thread(kTid, 10);
  dictionary.NameThread(kTid, "loader");
  EXPECT_EQ(dictionary.Thread(kTid), first);
  const std::uint32_t second = dictionary.Thread(kTid, 20);
  EXPECT_NE(second, first);
  EXPECT_EQ(dictionary.Thread(kTid), second);
  EXPECT_EQ(batch.threads.back().id, second);
  EXPECT_EQ(batch.threads.back().name, 0U) << "not the name of the one before";
}

// A thread of this name, with the number where that is not 0; false: another one was given.
bool UseInThread(Dictionary* dictionary, const char* name, pid_t* tid, std::uint32_t* id) {
  const pid_t wanted = *tid;
  if (wanted != 0) std::ofstream("/proc/sys/kernel/ns_last_pid") << wanted - 1;
  std::thread([&] {
    pthread_setname_np(pthread_self(), name);
    *tid = gettid();
    if (wanted == 0 || *tid == wanted) *id = dictionary->Thread(*tid);
  }).join();
  return wanted == 0 || *tid == wanted;
}

TEST(DictionaryTest, AThreadIdThatTheKernelGivesAgainIsAnotherThread) {
  if (access("/proc/sys/kernel/ns_last_pid", W_OK) != 0)
    GTEST_SKIP() << "may not choose the numbers of threads here (needs root)";
  Batch batch;
  Dictionary dictionary(&batch);
  pid_t first_tid = 0;
  std::uint32_t first = 0, second = 0;
  dictionary.BeginFlush();
  UseInThread(&dictionary, "loader", &first_tid, &first);
  usleep(2 * 1'000'000 / static_cast<useconds_t>(sysconf(_SC_CLK_TCK)));  // another tick
  dictionary.BeginFlush();
  bool again = false;
  for (int i = 0; i < 2000 && !again; ++i) {  // others may take the number first
    pid_t tid = first_tid;
    again = UseInThread(&dictionary, "autograd", &tid, &second);
  }
  if (!again) GTEST_SKIP() << "the number was not given again";
  EXPECT_NE(second, first);
  ASSERT_FALSE(batch.threads.empty());
  const std::uint32_t name = batch.threads.back().name;
  ASSERT_GT(name, 0U);
  EXPECT_EQ(batch.strings[name - 1].text, "autograd");
}

TEST(DictionaryTest, ThreadsOfTheProcessBeganWhenTheKernelSays) {
  Batch batch;
  Dictionary dictionary(&batch);
  const auto stat = ParseProcStat(*ReadTextFile("/proc/thread-self/stat"));
  EXPECT_EQ(dictionary.Thread(gettid()), dictionary.Thread(gettid(), stat->start_ticks));
}

}  // namespace
}  // namespace traceinject
