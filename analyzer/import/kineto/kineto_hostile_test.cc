// SPDX-License-Identifier: Apache-2.0
// Traces that are damaged, cut off or lie. Each either loads, with what was left out counted, or
// gives a sentence.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include "analyzer/import/load/load_run.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

// testing::Test has a Run of its own.
using Loaded = Run;

constexpr char kKernel[] =
    R"({"ph":"X","cat":"kernel","name":"k","ts":100.5,"dur":2,"pid":0,"tid":7,"args":{"device":0,"context":1,"stream":7,"correlation":1,"grid":[1,1,1],"block":[1,1,1]}})";
constexpr char kCall[] =
    R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":99,"dur":1,"pid":5,"tid":5,"args":{"correlation":1}})";

class KinetoHostileTest : public testing::Test {
 protected:
  Result<Loaded> Load(const std::string& bytes, const std::string& name = "t.json") {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return LoadRun({path}, {.threads = 1, .on_progress = {}});
  }
  std::string Fail(const std::string& bytes, const std::string& name = "t.json") {
    const auto run = Load(bytes, name);
    EXPECT_FALSE(run.ok()) << bytes.substr(0, 200);
    if (run.ok()) return "";
    EXPECT_NE(run.error().find(name), std::string::npos) << run.error();
    return run.error();
  }
  // What is noted when `event` stands beside a good kernel and its call.
  std::string NoteOf(const std::string& event) {
    const auto run = Load(Trace(event));
    EXPECT_TRUE(run.ok()) << (run.ok() ? "" : run.error());
    if (!run.ok()) return "";
    operations_ = run.value().ranks[0].devices[0].ops.size();
    std::string notes;
    for (const std::string& note : run.value().notes) notes += note + "\n";
    return notes;
  }
  static std::string Trace(const std::string& event) {
    return std::string("{\"traceEvents\":[") + kCall + "," + kKernel + "," + event + "]}";
  }
  static std::string Compressed(const std::string& text) {
    std::string out(compressBound(static_cast<uLong>(text.size())) + 64, '\0');
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
  }

  static void CheckIndices(const Rank& rank) {
    for (const Device& device : rank.devices) {
      const GpuOps& ops = device.ops;
      for (std::size_t i = 0; i < ops.size(); ++i) {
        ASSERT_GE(ops.end[i], ops.start[i]);
        ASSERT_LT(ops.stream[i], rank.streams.size());
        ASSERT_LT(ops.detail[i],
                  ops.kind[i] == OpKind::kKernel ? rank.shapes.size() : rank.transfers.size());
        ASSERT_TRUE(ops.launch[i] == kNone || ops.launch[i] < rank.api.size());
        ASSERT_TRUE(ops.graph_node[i] == kNone || ops.graph_node[i] < rank.graph_nodes.size());
      }
      ASSERT_TRUE(std::is_sorted(ops.start.begin(), ops.start.end()));
    }
    for (const KernelShape& shape : rank.shapes) ASSERT_LT(shape.name, rank.strings.size());
    for (std::size_t i = 0; i < rank.api.size(); ++i) {
      ASSERT_LT(rank.api.thread[i], rank.threads.size());
      ASSERT_LT(rank.api.name[i], rank.api_names.size());
    }
    for (std::size_t i = 0; i < rank.nvtx.size(); ++i) {
      ASSERT_LT(rank.nvtx.thread[i], rank.threads.size());
      ASSERT_LT(rank.nvtx.text[i], rank.strings.size());
    }
  }

  TemporaryFolder folder_;
  std::size_t operations_ = 0;
};

TEST_F(KinetoHostileTest, FilesThatAreNoTracesSayWhy) {
  EXPECT_NE(Fail("").find("empty"), std::string::npos);
  EXPECT_NE(Fail("hello").find("not a complete JSON trace"), std::string::npos);
  EXPECT_NE(Fail("{}").find("contains no events"), std::string::npos);
  EXPECT_NE(Fail("{\"traceEvents\":[]}").find("contains no events"), std::string::npos);
  EXPECT_NE(Fail("{\"traceEvents\":[1,2]}").find("no event could be read"), std::string::npos);
  EXPECT_NE(Fail(std::string("{\"traceEvents\":[") + kCall + "]}").find("no GPU operation"),
            std::string::npos);
  EXPECT_NE(Fail(std::string(100, '\0')).find("JSON"), std::string::npos);
  EXPECT_NE(Fail(std::string(2 << 20, '[')).find("truncated"), std::string::npos);
}

TEST_F(KinetoHostileTest, DamagedCompressionSaysSo) {
  const std::string good = Compressed(Trace(kKernel));
  ASSERT_TRUE(Load(good, "t.json.gz").ok());
  EXPECT_NE(Fail(good.substr(0, good.size() / 2), "t.json.gz").find("truncated"),
            std::string::npos);
  EXPECT_NE(Fail(good.substr(0, good.size() - 4), "t.json.gz").find("truncated"),
            std::string::npos);
  std::string changed = good;
  changed[good.size() / 2] = static_cast<char>(~changed[good.size() / 2]);
  EXPECT_NE(Fail(changed, "t.json.gz").find("damaged"), std::string::npos);
  EXPECT_FALSE(Fail("\x1F\x8B garbage garbage", "t.json.gz").empty());
}

TEST_F(KinetoHostileTest, EveryCutIsAnError) {
  const std::string whole = Trace(kKernel);
  for (std::size_t length = 0; length < whole.size(); length += 7)
    EXPECT_FALSE(Fail(whole.substr(0, length)).empty()) << length;
}

TEST_F(KinetoHostileTest, BadEventsAreCountedAndTheRestIsRead) {
  const struct {
    std::string event, note;
    std::size_t operations;
  } kCases[] = {
      {"1", "wrong type", 1},
      {R"({"ph":1})", "wrong type", 1},
      {R"({"ph":"X","cat":"kernel","name":5,"ts":1})", "wrong type", 1},
      {R"({"ph":"X","cat":"kernel","name":"k","ts":101,"dur":1,"args":[]})", "wrong type", 1},
      {"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"\xFF\xFE\",\"ts\":1,\"dur\":1}", "UTF-8", 1},
      {R"({"ph":"X","cat":"kernel","name":"k","ts":"x","dur":1,"args":{"device":0,"stream":1}})",
       "no time", 1},
      {R"({"ph":"X","cat":"kernel","name":"k","ts":1e300,"dur":1,"args":{"device":0,"stream":1}})",
       "impossible time", 1},
      {R"({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":9e15,"args":{"device":0,"stream":1}})",
       "impossible time", 1},
      {R"({"ph":"X","cat":"kernel","name":"k","ts":-9e15,"dur":1,"args":{"device":0,"stream":1}})",
       "impossible time", 1},
      {R"({"ph":"X","cat":"kernel","name":"k","ts":101,"dur":-5,"args":{"device":0,"stream":1}})",
       "was set to 0", 2},
      {R"({"ph":"X","cat":"kernel","name":"k","ts":101,"dur":1,"args":{"device":-1,"stream":1}})",
       "without device", 1},
      {R"({"ph":"X","cat":"kernel","name":"k","ts":101,"dur":1,"args":{"device":99999999,"stream":1}})",
       "without device", 1},
      {R"({"ph":"X","cat":"cuda_runtime","name":"c","ts":101,"dur":1,"pid":1})", "without a thread",
       1},
      {R"({"ph":"X","cat":"kernel","name":"ncclK","ts":101,"dur":1,"args":{"device":0,"stream":1,"correlation":1,"Collective name":"allreduce","dtype":"Odd","In msg nelems":5}})",
       "plain kernels", 2},
      {R"({"ph":"X","cat":"kernel","name":"k","ts":101,"dur":1,"args":{"device":0,"stream":1,"grid":"x"}})",
       "wrong type", 1},
  };
  for (const auto& each : kCases) {
    EXPECT_NE(NoteOf(each.event).find(each.note), std::string::npos) << each.event;
    EXPECT_EQ(operations_, each.operations) << each.event;
  }
  EXPECT_EQ(NoteOf(kKernel), "");
}

TEST_F(KinetoHostileTest, HugeNumbersInArgumentsDoNotOverflow) {
  const std::string event =
      R"({"ph":"X","cat":"gpu_memcpy","name":"Memcpy XtoY (","ts":101,"dur":1,"args":{"device":0,)"
      R"("stream":4294967294,"bytes":9223372036854775807,"correlation":-1,"context":18446744073709551616}})";
  NoteOf(event);
  EXPECT_EQ(operations_, 2u);
  NoteOf(R"({"ph":"X","cat":"kernel","name":"n","ts":102,"dur":1,"args":{"device":0,"stream":1,)"
         R"("grid":[99999999999,-1,1e9,4],"registers per thread":99999999999,"correlation":1,)"
         R"("Collective name":"allreduce","dtype":"Long","In msg nelems":9223372036854775807}})");
  EXPECT_EQ(operations_, 2u);
}

// One whose sum wraps around would be looked at for each of its milliseconds.
TEST_F(KinetoHostileTest, FunctionsThatLastForCenturiesAreLookedAtSeldom) {
  std::string functions = kKernel;
  for (int thread = 1; thread < 5; ++thread) {
    for (const char* times :
         {R"("ts":-1100000000000000,"dur":1)", R"("ts":1100000000000000,"dur":1100000000000000)"})
      functions += std::string(R"(,{"ph":"X","cat":"python_function","name":"f",)") + times +
                   R"(,"pid":5,"tid":)" + std::to_string(thread) + "}";
  }
  const auto run = Load(Trace(functions));
  ASSERT_TRUE(run.ok()) << run.error();
  EXPECT_LT(run.value().ranks[0].stack_samples.size(), 1'000'000u);
}

TEST_F(KinetoHostileTest, HugeSizesOfOperatorsDoNotOverflow) {
  for (const char* numbers :
       {R"("[1]","[9223372036854775807]","[1]")", R"("[1]","[0]","[9223372036854775807]")",
        R"("[9223372036854775807]","[1]","[1]")"}) {
    const auto run = Load(Trace(
        std::string(R"({"ph":"X","cat":"cpu_op","name":"aten::conv2d","ts":98,"dur":9,"pid":5,)") +
        R"("tid":5,"args":{"Input Dims":[[1,8,9223372036854775807,64],[8,8,0,3]],)"
        R"("Input type":["float","float"],"Concrete Inputs":["","","",)" +
        numbers + "]}}"));
    ASSERT_TRUE(run.ok()) << run.error();
    EXPECT_EQ(run.value().ranks[0].gemms.size(), 0u) << numbers;
  }
}

TEST_F(KinetoHostileTest, BadFactsAreNotedAndTheRestIsRead) {
  const std::string events = std::string("\"traceEvents\":[") + kCall + "," + kKernel + "]";
  for (const char* facts :
       {R"("deviceProperties":{"id":0})", R"("deviceProperties":[{"id":-5}])",
        R"("deviceProperties":[{"id":0,"name":3}])", R"("distributedInfo":[])",
        R"("baseTimeNanoseconds":"soon")", R"("baseTimeNanoseconds":9223372036854775807)",
        R"("cuda_runtime_version":-1)"}) {
    const auto run = Load(std::string("{") + facts + "," + events + "}");
    ASSERT_TRUE(run.ok()) << facts << run.error();
    ASSERT_EQ(run.value().notes.size(), 1u) << facts;
    EXPECT_NE(run.value().notes[0].find("could not be understood"), std::string::npos);
  }
}

TEST_F(KinetoHostileTest, ChangedBytes) {
  std::string good = "{\"deviceProperties\":[{\"id\":0,\"name\":\"G\"}],\"traceEvents\":[";
  for (int i = 0; i < 40; ++i) good += std::string(i > 0 ? "," : "") + kCall + "," + kKernel;
  good += "]}";
  std::mt19937 random(1);
  int loaded = 0;
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    std::string bytes = good;
    const auto changes = 1 + random() % 8;
    for (unsigned i = 0; i < changes; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto run = Load(bytes);
    if (!run.ok()) continue;
    ++loaded;
    for (const Rank& rank : run.value().ranks) CheckIndices(rank);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(loaded, 0);
  EXPECT_LT(loaded, kRounds);
}

}  // namespace
}  // namespace traceinject
