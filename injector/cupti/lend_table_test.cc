// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/lend_table.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace traceinject {
namespace {

std::uint8_t g_lent[LendTable::kSlots + 1];

TEST(LendTable, TellsTheMarkOfEachOnce) {
  LendTable table;
  table.Add(g_lent, 3);
  table.Add(g_lent + 1, 4);
  EXPECT_EQ(table.Take(g_lent + 1), 4);
  EXPECT_EQ(table.Take(g_lent), 3);
  EXPECT_FALSE(table.Take(g_lent));
  table.Add(g_lent, 5);
  EXPECT_EQ(table.Take(g_lent), 5);
}

TEST(LendTable, WhatThereIsNoRoomForIsNotKept) {
  LendTable table;
  for (std::uint8_t& byte : g_lent) table.Add(&byte, 1);
  EXPECT_FALSE(table.Take(g_lent + LendTable::kSlots));
  EXPECT_EQ(table.Take(g_lent), 1);
  table.Add(g_lent + LendTable::kSlots, 2);
  EXPECT_EQ(table.Take(g_lent + LendTable::kSlots), 2);
  table.Forget();
  EXPECT_FALSE(table.Take(g_lent + 1));
}

TEST(LendTable, ServesThreadsAtATime) {
  LendTable table;
  constexpr int kThreads = 4, kTimes = 20'000;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&table, thread] {
      for (int i = 0; i < kTimes; ++i) {
        table.Add(g_lent + thread, i);
        EXPECT_EQ(table.Take(g_lent + thread), i);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace traceinject
