// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/kineto/python_stacks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "analyzer/import/kineto/kineto_json.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

// A trace of one process, 70, with its main thread, 71, and one of autograd, 72. Times are in us.
class TraceText {
 public:
  void Event(const std::string& category, const std::string& name, int tid, double start,
             double length, const std::string& arguments) {
    text_ += fmt::format(
        "{}{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": 70, \"tid\": {}, "
        "\"ts\": {:.3f}, \"dur\": {:.3f}, \"args\": {{{}}}}}",
        text_.empty() ? "" : ",\n", category, name, tid, start, length, arguments);
  }
  void Function(const std::string& name, double start, double length, int tid = 71) {
    Event("python_function", name, tid, start, length,
          fmt::format("\"Python id\": {}, \"Python parent id\": null", ++functions_));
  }
  void Operator(const std::string& name, double start, double length, int tid,
                const std::string& arguments) {
    Event("cpu_op", name, tid, start, length, arguments);
  }
  // A kernel of 10 us that begins 20 us after its launch. Returns its correlation id.
  int Launch(double at, int tid = 71) {
    ++launches_;
    Event("cuda_runtime", "cudaLaunchKernel", tid, at, 3,
          fmt::format("\"correlation\": {}", launches_));
    Event("kernel", "gemm", 7, at + 20, 10,
          fmt::format("\"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": {}",
                      launches_));
    return launches_;
  }
  std::string json() const { return "{\"traceEvents\": [" + text_ + "]}"; }

 private:
  std::string text_;
  int functions_ = 0, launches_ = 0;
};

class PythonStacksTest : public testing::Test {
 protected:
  // The rank of the trace; it stays until the next one is read.
  const Rank& Read() {
    const std::string path = folder_ / "trace.json";
    std::ofstream(path) << trace_.json();
    ReadProgress progress;
    auto file = ReadKinetoJson(path, progress);
    EXPECT_TRUE(file.ok()) << file.error();
    if (file.ok()) rank_ = std::move(file.value().ranks.at(0));
    return rank_;
  }
  // "main > load", the outermost frame first.
  std::string Text(std::uint32_t stack) const {
    if (stack == kNone) return "";
    const CodeStack& one = rank_.stacks[stack];
    const std::string caller = Text(one.caller);
    return (caller.empty() ? "" : caller + " > ") +
           std::string(rank_.string(rank_.places[one.place].function));
  }
  // Of the call with this id.
  std::string StackOf(int correlation) const {
    const StackSamples& samples = rank_.stack_samples;
    for (std::size_t row = 0; row < samples.size(); ++row) {
      if (samples.correlation[row] == static_cast<std::uint64_t>(correlation))
        return Text(samples.stack[row]);
    }
    return "none";
  }

  TraceText trace_;

 private:
  TemporaryFolder folder_;
  Rank rank_;
};

TEST_F(PythonStacksTest, NamesOfFunctions) {
  const PythonName own = ParsePythonName("/w/my (old)/train.py(41): load_batch");
  EXPECT_EQ(own.file, "/w/my (old)/train.py");
  EXPECT_EQ(own.function, "load_batch");
  EXPECT_EQ(own.line, 41);
  const PythonName in_c = ParsePythonName(
      "<built-in method choice of numpy.random.mtrand.RandomState object at 0x7f42>");
  EXPECT_EQ(in_c.file, "<built-in>");
  EXPECT_EQ(in_c.function, "choice");
  EXPECT_EQ(ParsePythonName("<built-in function len>").function, "len");
  EXPECT_EQ(ParsePythonName("<method 'join' of 'str' objects>").function,
            "method 'join' of 'str' objects");
  EXPECT_EQ(ParsePythonName("nn.Module: Linear_3").file, "<nn.Module>");
  EXPECT_EQ(ParsePythonName("nn.Module: Linear_3").function, "Linear_3");
  EXPECT_EQ(ParsePythonName("").file, "<built-in>");
}

TEST_F(PythonStacksTest, ACallHasTheStackAroundIt) {
  trace_.Function("train.py(9): main", 0, 1000);
  trace_.Function("train.py(41): load", 100, 200);
  const int in_load = trace_.Launch(150);
  const int behind = trace_.Launch(300);  // as the function ends
  const int outside = trace_.Launch(1500);
  const Rank& rank = Read();
  EXPECT_EQ(StackOf(in_load), "main > load");
  EXPECT_EQ(StackOf(behind), "main");
  EXPECT_EQ(StackOf(outside), "none");
  EXPECT_EQ(rank.places.at(0).first_line, 9);
  EXPECT_EQ(rank.string(rank.places.at(0).file), "train.py");
}

// Rounded times let a function begin before, and end after, the one that called it.
TEST_F(PythonStacksTest, TheProfilerSaysWhoCalled) {
  const auto function = [&](const std::string& name, double start, double length, int id,
                            const std::string& parent) {
    trace_.Event("python_function", name, 71, start, length,
                 fmt::format("\"Python id\": {}, \"Python parent id\": {}", id, parent));
  };
  function("a.py(1): main", 0, 1000, 1, "null");
  function("a.py(2): first", 100, 101, 2, "1");
  function("a.py(3): second", 200, 100, 3, "1");
  const int launch = trace_.Launch(200.5);
  Read();
  EXPECT_EQ(StackOf(launch), "main > second");
}

TEST_F(PythonStacksTest, WhatAutogradLaunchesIsOfTheForwardLine) {
  trace_.Function("train.py(1): step", 0, 5000);
  trace_.Function("model.py(7): feed", 100, 200);
  trace_.Operator("aten::linear", 110, 80, 71, "\"Sequence number\": 5, \"Fwd thread id\": 0");
  trace_.Operator("aten::addmm", 120, 50, 71, "\"Sequence number\": 5, \"Fwd thread id\": 0");
  trace_.Function("model.py(9): norm", 400, 200);
  trace_.Operator("aten::layer_norm", 410, 80, 71, "\"Sequence number\": 6, \"Fwd thread id\": 0");
  trace_.Function("<built-in method run_backward of torch._C._EngineBase object at 0x7f>", 1000,
                  2000);
  trace_.Operator("autograd::engine::evaluate_function: NativeLayerNormBackward0", 1100, 200, 72,
                  "\"Sequence number\": 6, \"Fwd thread id\": 1");
  const int norm = trace_.Launch(1150, 72);
  trace_.Operator("autograd::engine::evaluate_function: AddmmBackward0", 1400, 300, 72,
                  "\"Sequence number\": 5, \"Fwd thread id\": 1");
  trace_.Operator("AddmmBackward0", 1410, 100, 72, "\"Sequence number\": 5, \"Fwd thread id\": 1");
  const int feed = trace_.Launch(1450, 72);
  trace_.Operator("torch::autograd::AccumulateGrad", 1800, 100, 72, "");
  const int gathered = trace_.Launch(1850, 72);
  // A backward in Python, of a function of the program's own.
  trace_.Operator("MineBackward", 2000, 300, 72, "\"Sequence number\": 6, \"Fwd thread id\": 1");
  trace_.Function("mine.py(3): backward", 2010, 200, 72);
  const int own = trace_.Launch(2100, 72);
  // Nothing was recorded of its forward.
  trace_.Operator("MulBackward0", 2500, 100, 72, "\"Sequence number\": 99, \"Fwd thread id\": 1");
  const int unknown = trace_.Launch(2550, 72);
  Read();
  EXPECT_EQ(StackOf(norm), "step > norm");
  EXPECT_EQ(StackOf(feed), "step > feed");
  EXPECT_EQ(StackOf(gathered), "none");
  EXPECT_EQ(StackOf(own), "backward");
  EXPECT_EQ(StackOf(unknown), "none");
}

TEST_F(PythonStacksTest, LooksDivideTheTimeAsItWas) {
  // 40 steps of 5 ms: 3 ms in one function, 1.5 ms in another, the rest in neither.
  trace_.Function("train.py(9): main", 0, 40 * 5000);
  for (int step = 0; step < 40; ++step) {
    trace_.Function("train.py(41): load", step * 5000 + 100, 3000);
    trace_.Function("train.py(77): log", step * 5000 + 3200, 1500);
    trace_.Launch(step * 5000 + 4900);
  }
  const Rank& rank = Read();
  std::map<std::string, int> looks;
  int all = 0;
  const StackSamples& samples = rank.stack_samples;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    if (samples.kind[row] != StackKind::kTimed) continue;
    ++looks[Text(samples.stack[row])];
    ++all;
  }
  EXPECT_NEAR(all, 40 * 5000 / 100, 1);
  EXPECT_NEAR(looks["main > load"], 0.6 * all, 0.02 * all);
  EXPECT_NEAR(looks["main > log"], 0.3 * all, 0.02 * all);
  EXPECT_TRUE(std::is_sorted(samples.time.begin(), samples.time.end()));
}

// Traces of 2021: no functions, but the stacks of operators, at the lines where these stood.
TEST_F(PythonStacksTest, OperatorsMayTellTheirStacks) {
  const std::string forward = "\"Call stack\": \"conv.py(443): forward;train.py(46): main\"";
  trace_.Operator("aten::conv2d", 100, 100, 71,
                  forward + ", \"Sequence number\": 5, \"Fwd thread id\": 0");
  const int inside = trace_.Launch(120);
  const int outside = trace_.Launch(300);
  trace_.Operator("CudnnConvolutionBackward", 500, 100, 72,
                  "\"Sequence number\": 5, \"Fwd thread id\": 1");
  const int backward = trace_.Launch(520, 72);
  trace_.Operator("aten::mul_", 700, 50, 71, "\"Call stack\": \"\"");
  const int empty = trace_.Launch(710);
  const Rank& rank = Read();
  EXPECT_EQ(StackOf(inside), "main > forward");
  EXPECT_EQ(StackOf(outside), "none");
  EXPECT_EQ(StackOf(backward), "main > forward");
  EXPECT_EQ(StackOf(empty), "none");
  EXPECT_EQ(rank.places.at(0).line, 46);
  EXPECT_EQ(rank.places.at(0).first_line, 0);
  EXPECT_EQ(rank.stack_samples.size(), 2U) << "of host time nothing is known";
}

TEST_F(PythonStacksTest, OperatorsAreKeptAndNoRecordingBeginsWithThem) {
  trace_.Operator(
      "aten::mm", 1, 99, 71,
      "\"Input Dims\": [[8, 16], [16, 4]], \"Sequence number\": 3, \"Fwd thread id\": 0");
  trace_.Operator("aten::t", 2, 9, 71, "\"Input Dims\": \"none\"");
  trace_.Launch(50);
  const Rank& rank = Read();
  const ProfiledRanges& ranges = rank.profiled;
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(rank.string(ranges.name[0]), "aten::mm");
  EXPECT_EQ(rank.string(ranges.input_shapes[0]), "[[8, 16], [16, 4]]");
  EXPECT_EQ(ranges.input_shapes[1], kNone);
  EXPECT_EQ(ranges.sequence[0], 3);
  EXPECT_EQ(ranges.sequence[1], -1);
  EXPECT_EQ(ranges.end[0] - ranges.start[0], 99'000);
  EXPECT_EQ(rank.api.start[0], 0);
  EXPECT_EQ(ranges.start[0], -49'000);
  EXPECT_EQ(rank.nvtx.size(), 0U);
  EXPECT_EQ(rank.stack_samples.size(), 0U) << "there are no Python functions";
}

}  // namespace
}  // namespace traceinject
