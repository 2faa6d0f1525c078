// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/native_stacks.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <thread>

#include "injector/base/ring.h"

namespace traceinject {
namespace {

// Like a call that the program makes: kept from being inlined, and from being its caller's last.
#define TRACEINJECT_TEST_FUNCTION extern "C" [[gnu::noinline]] void

TRACEINJECT_TEST_FUNCTION native_innermost() {
  EmitStackCopy(3, 100, 200);
  __asm__ volatile("");
}
TRACEINJECT_TEST_FUNCTION native_with_locals(int depth) {
  char room[300];
  __asm__ volatile("" : : "r"(room) : "memory");
  if (depth > 0)
    native_with_locals(depth - 1);
  else
    native_innermost();
  __asm__ volatile("" : : "r"(room) : "memory");
}
// Its frame is found by an expression: it realigns the stack.
TRACEINJECT_TEST_FUNCTION native_aligned(int count) {
  alignas(128) char room[256];
  auto* more = static_cast<char*>(__builtin_alloca(static_cast<std::size_t>(count)));
  __asm__ volatile("" : : "r"(room), "r"(more) : "memory");
  native_with_locals(3);
  __asm__ volatile("" : : "r"(room), "r"(more) : "memory");
}
TRACEINJECT_TEST_FUNCTION native_outermost() {
  native_aligned(100);
  __asm__ volatile("");
}

std::vector<std::string> TakeEvents() {
  std::vector<std::string> events;
  g_rings.DrainAll(
      [&](int, int, const EventHeader& event) {
        if (event.type == static_cast<std::uint16_t>(EventType::kNativeStack))
          events.emplace_back(reinterpret_cast<const char*>(&event), event.size);
      },
      [](int) {});
  return events;
}

// With the registers where they are aligned.
const NativeStackEvent& EventOf(const std::string& bytes) {
  return *reinterpret_cast<const NativeStackEvent*>(bytes.data());
}

std::string StackFrom(const std::function<void()>& function) {
  TakeEvents();
  function();
  std::vector<std::string> events = TakeEvents();
  EXPECT_EQ(events.size(), 1U);
  return events.empty() ? std::string() : events.front();
}

std::vector<std::string> NamesOf(NativeStacks* stacks, const NativeStacks::Stack& stack) {
  stacks->Name();
  std::vector<std::string> names;
  for (const std::uint32_t number : stack.functions) names.push_back(stacks->function(number).name);
  return names;
}

TEST(NativeStacksTest, FunctionsFromTheInnermostToTheOutermost) {
  const std::string event = StackFrom(native_outermost);
  ASSERT_FALSE(event.empty());
  EXPECT_EQ(EventOf(event).header.flags, 3);
  EXPECT_EQ(EventOf(event).header.time_ns, 100);
  EXPECT_EQ(EventOf(event).end_ns, 200);
  NativeStacks stacks(nullptr);
  const std::vector<std::string> names = NamesOf(&stacks, stacks.Unwind(EventOf(event)));
  ASSERT_GE(names.size(), 8U);
  const std::vector<std::string> head(names.begin() + 1, names.begin() + 8);
  EXPECT_EQ(head,
            (std::vector<std::string>{"native_innermost", "native_with_locals",
                                      "native_with_locals", "native_with_locals",
                                      "native_with_locals", "native_aligned", "native_outermost"}));
  EXPECT_TRUE(names.front().find("EmitStackCopy") != std::string::npos);
}

TEST(NativeStacksTest, FramesOfThisLibraryAreLeftOut) {
  const std::string event = StackFrom(native_outermost);
  NativeStacks stacks(reinterpret_cast<const void*>(&EmitStackCopy));
  const std::vector<std::string> names = NamesOf(&stacks, stacks.Unwind(EventOf(event)));
  EXPECT_EQ(std::count(names.begin(), names.end(), "native_outermost"), 0);
}

TEST(NativeStacksTest, UpToTheBeginningOfAThread) {
  std::string event;
  std::thread([&] { event = StackFrom(native_outermost); }).join();
  NativeStacks stacks(nullptr);
  EXPECT_FALSE(stacks.Unwind(EventOf(event)).is_cut);
}

TEST(NativeStacksTest, AStackThatIsTooDeepIsCut) {
  const std::string event = StackFrom([] { native_with_locals(1000); });
  NativeStacks stacks(nullptr);
  const NativeStacks::Stack stack = stacks.Unwind(EventOf(event));
  EXPECT_TRUE(stack.is_cut);
  EXPECT_GT(stack.functions.size(), 20U);
  EXPECT_LE(stack.functions.size(), NativeStacks::kMaxFrames);
}

TEST(NativeStacksTest, WhatIsNoStackHasNoFrames) {
  std::string event = StackFrom(native_outermost);
  std::mt19937 random(1);
  NativeStacks stacks(nullptr);
  for (int i = 0; i < 2000; ++i) {
    std::string broken = event;
    const std::size_t first = i % 2 == 0 ? sizeof(EventHeader) + 8 : sizeof(NativeStackEvent);
    const std::size_t size = i % 4 < 2 ? broken.size() : sizeof(NativeStackEvent) + 600;
    for (std::size_t at = first; at < size; at += 1 + random() % 64)
      broken[at] = static_cast<char>(random());
    NativeStackEvent head;
    std::memcpy(&head, broken.data(), sizeof head);
    head.bytes = std::min<std::uint64_t>(head.bytes, kMaxStackBytes);
    std::memcpy(broken.data(), &head, sizeof head);
    EXPECT_LE(stacks.Unwind(EventOf(broken)).functions.size(), NativeStacks::kMaxFrames);
  }
  NativeStackEvent nothing{};
  EXPECT_TRUE(stacks.Unwind(nothing).functions.empty());
}

// Code made at run time that keeps frame pointers.
TEST(NativeStacksTest, CodeWithoutAFileIsFollowedByFramePointers) {
  const std::string good = StackFrom(native_outermost);
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  NativeStacks stacks(nullptr);
  constexpr std::uint64_t kFrame = 0x7000;
  // The caller's frame is beyond what was copied, whether it is found by rsp or by rbp.
  const std::uint64_t words[] = {0, kFrame + 64, EventOf(good).registers[7], 0, 0, 0};
  NativeStackEvent head{};
  head.bytes = sizeof words;
  head.registers[1] = kFrame + 8;
  head.registers[2] = kFrame;
  head.registers[7] = reinterpret_cast<std::uint64_t>(page);
  std::string event(sizeof head + sizeof words, '\0');
  std::memcpy(event.data(), &head, sizeof head);
  std::memcpy(event.data() + sizeof head, words, sizeof words);
  const NativeStacks::Stack stack = stacks.Unwind(EventOf(event));
  EXPECT_TRUE(stack.is_cut);
  ASSERT_EQ(stack.functions.size(), 1U);
  EXPECT_NE(NamesOf(&stacks, stack)[0].find("EmitStackCopy"), std::string::npos);
  munmap(page, 4096);
}

TEST(NativeStacksTest, ARingThatIsHalfFullIsLeftToOthers) {
  TakeEvents();
  for (int i = 0; i < 1000; ++i) native_innermost();
  const std::size_t taken = TakeEvents().size();
  EXPECT_GT(taken, 10U);
  EXPECT_LE(taken, Ring::kBytes / kMaxStackBytes / 2 + 1);
}

TEST(NativeStacksTest, WhatIsForgottenIsFoundAgain) {
  const std::string event = StackFrom(native_outermost);
  NativeStacks stacks(nullptr);
  const std::vector<std::string> names = NamesOf(&stacks, stacks.Unwind(EventOf(event)));
  stacks.Forget();
  EXPECT_EQ(NamesOf(&stacks, stacks.Unwind(EventOf(event))), names);
}

}  // namespace
}  // namespace traceinject
