// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/text/text_hang.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

void AddFrame(proto::ThreadStack& stack, const std::string& function, int line, bool own = true) {
  proto::StackFrame& frame = *stack.add_frames();
  frame.set_file(own ? "/w/train.py" : "/lib/torch/_tensor.py");
  frame.set_function(function);
  frame.set_line(line);
  frame.set_place("train.py:" + std::to_string(line) + " in " + function);
  frame.set_library(function + " of torch/_tensor.py");
  frame.set_own(own);
}

// All ranks but one wait in .item(), that one reads; each has a second thread.
proto::Report Job(int ranks, int reader) {
  proto::Report report;
  for (int rank = 0; rank < ranks; ++rank) {
    report.add_sources()->set_rank(rank);
    proto::ThreadStack& main = *report.add_last_stacks();
    main.set_source(rank);
    main.set_main(true);
    main.set_thread(100 + rank);
    main.set_thread_name("python");
    if (rank == reader) {
      AddFrame(main, "read", 12);
    } else {
      AddFrame(main, "item", 700, false);
      AddFrame(main, "step", 41);
    }
    AddFrame(main, "call", 5, false);
    AddFrame(main, "main", 90);
    proto::ThreadStack& other = *report.add_last_stacks();
    other.set_source(rank);
    other.set_thread(200 + rank);
    AddFrame(other, "log", 3);
  }
  return report;
}

bool Says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(HangText, RanksWithEqualStacksAreOneLine) {
  const std::string text = WriteHangText(Job(8, 3), {.width = 200}, false);
  const std::size_t most = text.find(
      "ranks 0-2, 4-7: train.py:41 in step (item of torch/_tensor.py) <- train.py:90 in main\n");
  const std::size_t odd = text.find("rank 3: train.py:12 in read <- train.py:90 in main\n");
  ASSERT_NE(most, std::string::npos) << text;
  ASSERT_NE(odd, std::string::npos) << text;
  EXPECT_LT(most, odd);
  EXPECT_FALSE(Says(text, "train.py:3 in log"));
  EXPECT_TRUE(Says(text, "No process hangs"));
}

TEST(HangText, FullStacksAreOfAllThreadsWithAllFrames) {
  const std::string text = WriteHangText(Job(2, 1), {.width = 200}, true);
  EXPECT_TRUE(Says(text, "  rank 0 thread (200), rank 1 thread (201):\n    train.py:3 in log\n"));
  EXPECT_TRUE(Says(text,
                   "  rank 0 python (100):\n"
                   "    train.py:700 in item (library)\n"
                   "    train.py:41 in step\n"
                   "    train.py:5 in call (library)\n"
                   "    train.py:90 in main\n"))
      << text;
}

TEST(HangText, ALibraryAlone) {
  proto::Report report;
  report.add_sources()->set_pid(77);
  proto::ThreadStack& stack = *report.add_last_stacks();
  stack.set_main(true);
  AddFrame(stack, "wait", 4, false);
  EXPECT_TRUE(Says(WriteHangText(report, {}, false), "pid 77: train.py:4 in wait (a library)\n"));
}

TEST(HangText, AHungRunIsSaidFirst) {
  proto::Report report = Job(1, 0);
  proto::Stall& stall = *report.add_stalls();
  stall.set_length_ns(3'000'000'000);
  const std::string text = WriteHangText(report, {.width = 200}, false);
  EXPECT_TRUE(text.starts_with("The run hangs at its end: 1 process")) << text;
  EXPECT_LT(text.find("rank 0: train.py:12"), text.find("Stalls\n"));
}

TEST(HangText, NoStacksAreSaid) {
  EXPECT_TRUE(Says(WriteHangText({}, {}, false), "no Python stacks were recorded"));
}

}  // namespace
}  // namespace traceinject
