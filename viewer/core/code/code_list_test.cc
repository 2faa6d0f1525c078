// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/code/code_list.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace traceinject {
namespace {

class CodeListTest : public testing::Test {
 protected:
  CodeListTest() {
    proto::DeviceReport& device = *report_.add_devices();
    Add(device, "/w/train.py", 12, "main", 1'000'000, 30);
    Add(device, "/w/data.py", 41, "load", 57'000'000, 20);
    proto::CodeRow& library =
        Add(device, "/usr/lib/python3/dist-packages/torch/nn.py", 7, "forward", 0, 90);
    library.set_own(false);
  }
  static proto::CodeRow& Add(proto::DeviceReport& device, const char* file, int line,
                             const char* function, std::int64_t idle_ns, std::int64_t host_ms) {
    proto::CodeRow& row = *device.add_code();
    row.set_file(file);
    row.set_line(line);
    row.set_function(function);
    row.set_own(true);
    row.set_idle_ns(idle_ns);
    if (idle_ns > 0) row.set_cause("python");
    row.set_host_ns(host_ms * 1'000'000);
    return row;
  }
  static std::vector<std::string> Names(const CodeList& list) {
    std::vector<std::string> names;
    for (std::size_t row = 0; row < list.size(); ++row) names.push_back(list.Text(row, 0));
    return names;
  }
  static std::size_t Column(const CodeList& list, std::string_view name) {
    const auto found = std::find_if(list.columns().begin(), list.columns().end(),
                                    [&](const TableColumn& column) { return column.name == name; });
    EXPECT_NE(found, list.columns().end()) << name;
    return static_cast<std::size_t>(found - list.columns().begin());
  }

  proto::Report report_;
};

using Strings = std::vector<std::string>;

TEST_F(CodeListTest, BeginsWithTheLongestIdleTime) {
  const CodeList list(report_, CodeGrouping::kLine);
  EXPECT_EQ(Names(list),
            (Strings{"data.py:41 in load", "train.py:12 in main", "torch/nn.py:7 in forward"}));
  EXPECT_EQ(list.Text(0, Column(list, "idle_ns")), "57.00 ms");
  EXPECT_EQ(list.Text(0, Column(list, "cause")), "python");
  EXPECT_EQ(list.Text(2, Column(list, "cause")), "-");
  EXPECT_TRUE(list.IsOwn(0));
  EXPECT_FALSE(list.IsOwn(2));
  EXPECT_EQ(list.Key(0).file, "/w/data.py");
  EXPECT_EQ(list.Key(0).line, 41);
}

TEST_F(CodeListTest, IsSortedByAnyColumn) {
  CodeList list(report_, CodeGrouping::kLine);
  list.Arrange({"", "host_ns", false});
  EXPECT_EQ(Names(list).front(), "torch/nn.py:7 in forward");
  list.Arrange({"", "host_ns", true});
  EXPECT_EQ(Names(list).front(), "data.py:41 in load");
  list.Arrange({"", "place", false});
  EXPECT_EQ(Names(list).back(), "train.py:12 in main");
  EXPECT_EQ(list.Key(2).line, 12) << "what a row is of goes with it";
}

TEST_F(CodeListTest, IsFilteredByText) {
  CodeList list(report_, CodeGrouping::kLine);
  list.Arrange({"TORCH"});
  EXPECT_EQ(Names(list), Strings{"torch/nn.py:7 in forward"});
  EXPECT_EQ(list.all(), 3U);
  list.Arrange({"python"});
  EXPECT_EQ(list.size(), 2U) << "causes are texts, too";
  list.Arrange({"nothing has this"});
  EXPECT_EQ(list.size(), 0U);
}

TEST_F(CodeListTest, ColumnsThatSayNothingAreLeftOut) {
  const auto has = [](const CodeList& list, std::string_view name) {
    return std::any_of(list.columns().begin(), list.columns().end(),
                       [&](const TableColumn& column) { return column.name == name; });
  };
  EXPECT_FALSE(has(CodeList(report_, CodeGrouping::kLine), "text"));
  EXPECT_FALSE(has(CodeList(report_, CodeGrouping::kLine), "gpu"));
  report_.mutable_devices(0)->mutable_code(0)->set_text("loss.backward()");
  EXPECT_TRUE(has(CodeList(report_, CodeGrouping::kLine), "text"));
}

TEST_F(CodeListTest, FunctionsAndThreads) {
  const CodeList functions(report_, CodeGrouping::kFunction);
  EXPECT_EQ(functions.columns().front().title, "function");
  proto::Report threads;
  proto::CodeRow& thread = *threads.add_devices()->add_code();
  thread.set_thread(662);
  thread.set_thread_name("pt_autograd_0");
  thread.set_host_ns(5'000'000);
  CodeList list(threads, CodeGrouping::kThread);
  EXPECT_EQ(list.Text(0, 0), "662 (pt_autograd_0)");
  EXPECT_EQ(list.Text(0, Column(list, "host_ns")), "5.000 ms");
}

TEST_F(CodeListTest, ModulesAndWhatIsOutsideOfThem) {
  proto::Report report;
  proto::DeviceReport& device = *report.add_devices();
  device.add_code()->set_module("GPT.h.*.attn");
  device.add_code();
  EXPECT_EQ(Names(CodeList(report, CodeGrouping::kModules)), (Strings{"GPT.h.*.attn", "(none)"}));
}

}  // namespace
}  // namespace traceinject
