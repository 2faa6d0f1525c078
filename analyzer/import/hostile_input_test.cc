// SPDX-License-Identifier: Apache-2.0
// No reader crashes on any input: valid recordings with bytes changed, cut or shuffled either load
// or give a sentence. Worth most under the address sanitizer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include "analyzer/import/load_run.h"
#include "analyzer/import/run_db_fixture.h"
#include "analyzer/import/temporary_folder.h"

namespace traceinject {
namespace {

class HostileInputTest : public testing::Test {
 protected:
  HostileInputTest() {
    RunDbFixture file(folder_ / "good.db", {.rank = 0, .world_size = 2, .views = true});
    const auto communicator = file.AddCommunicator({.size = 2});
    for (int i = 0; i < 300; ++i) {
      file.AddLaunchedKernel({.start_ns = i * 100,
                              .dur_ns = 90,
                              .name = fmt::format("kernel_{}", i % 20),
                              .graph_node = 1},
                             i * 100 - 50, 20);
      file.AddMemcpy({.start_ns = i * 100, .dur_ns = 10, .bytes = i});
      file.AddNvtx({.start_ns = i * 100, .dur_ns = 10, .text = fmt::format("range {}", i)});
      file.AddCollective({.start_ns = i, .dur_ns = 10, .bytes = i, .communicator = communicator});
      file.AddSync({.start_ns = i, .dur_ns = 1, .event = i, .stream = 7});
    }
    file.AddHealth("kernel", "seen", 300);
    file.Close();
    std::ifstream good(folder_ / "good.db", std::ios::binary);
    good_.assign(std::istreambuf_iterator<char>(good), {});
  }

  // True if it loaded. Every index of what loaded is then in range.
  bool Load(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const auto run = LoadRun({path_}, {.threads = 1, .on_progress = {}});
    if (!run.ok()) {
      EXPECT_NE(run.error().find(path_), std::string::npos) << run.error();
      return false;
    }
    for (const Rank& rank : run.value().ranks) CheckIndices(rank);
    return true;
  }

  static void CheckIndices(const Rank& rank) {
    for (const Device& device : rank.devices) {
      const GpuOps& ops = device.ops;
      for (const std::size_t length :
           {ops.end.size(), ops.kind.size(), ops.kernel_class.size(), ops.stream.size(),
            ops.detail.size(), ops.correlation.size(), ops.launch.size(), ops.graph_node.size()}) {
        ASSERT_EQ(length, ops.size());
      }
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
    for (const KernelShape& shape : rank.shapes)
      ASSERT_TRUE(shape.name == kNone || shape.name < rank.strings.size());
    for (std::size_t i = 0; i < rank.api.size(); ++i) {
      ASSERT_LT(rank.api.thread[i], rank.threads.size());
      ASSERT_LT(rank.api.name[i], rank.api_names.size());
    }
    for (std::size_t i = 0; i < rank.nvtx.size(); ++i) {
      ASSERT_LT(rank.nvtx.domain[i], rank.nvtx_domains.size());
      ASSERT_TRUE(rank.nvtx.text[i] == kNone || rank.nvtx.text[i] < rank.strings.size());
    }
    for (std::size_t i = 0; i < rank.collectives.size(); ++i) {
      ASSERT_LT(rank.collectives.function[i], rank.strings.size());
      ASSERT_TRUE(rank.collectives.communicator[i] == kNone ||
                  rank.collectives.communicator[i] < rank.communicators.size());
    }
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "bad.db";
  std::string good_;
};

TEST_F(HostileInputTest, ChangedBytes) {
  ASSERT_TRUE(Load(good_));
  std::mt19937 random(1);
  int loaded = 0;
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    std::string bytes = good_;
    const auto changes = 1 + random() % 32;
    for (unsigned i = 0; i < changes; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    loaded += Load(bytes) ? 1 : 0;
    if (HasFatalFailure()) return;
  }
  // Changes that hit a value load, those that hit the structure do not: both ways were taken.
  EXPECT_GT(loaded, 0);
  EXPECT_LT(loaded, kRounds);
}

TEST_F(HostileInputTest, CutAndRepeatedParts) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    std::string bytes = good_;
    const std::size_t at = random() % bytes.size(), length = random() % 5000;
    switch (round % 3) {
      case 0:
        bytes.erase(at, length);
        break;
      case 1:
        bytes.insert(at, good_.substr(random() % good_.size(), length));
        break;
      default:
        bytes.resize(at);
        break;
    }
    Load(bytes);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace traceinject
