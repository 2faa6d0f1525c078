// SPDX-License-Identifier: Apache-2.0
// GEMMs and attention.
#include <gtest/gtest.h>

#include <vector>

#include "analyzer/import/testing/read_fixture.h"

namespace traceinject {
namespace {

using ReadLibraryCallsTest = ReadFixture;

TEST_F(ReadLibraryCallsTest, MatrixProducts) {
  RunDbFixture file(path_, {.end_ns = std::nullopt});
  file.AddGemm({.start_ns = 500, .dur_ns = 20, .m = 8, .n = 9, .k = 10, .batch = 3, .trans_b = 1});
  file.AddGemm({.start_ns = 100,
                .dur_ns = 900,
                .function = "cublasSgemm_v2",
                .m = 1,
                .n = 2,
                .k = 3,
                .type_a = 0,
                .type_b = 0,
                .type_c = std::nullopt,
                .compute_type = std::nullopt,
                .tid = 1});
  file.AddGemm({.start_ns = 700,
                .dur_ns = 10,
                .function = "cudnnConvolutionForward",
                .m = 4,
                .n = 5,
                .k = 6,
                .least_bytes = 700});
  file.Execute("INSERT INTO gemm VALUES (1, 2, 99, 1)");
  file.Execute("INSERT INTO gemm VALUES (1, 2, 1, 99)");
  file.Close();
  const RecordedFile read = Read();
  const Rank& rank = read.ranks[0];
  EXPECT_EQ(read.notes.size(), 2U);
  ASSERT_EQ(rank.gemms.start, (TimeColumn{100, 500, 700})) << "by start";
  EXPECT_EQ(rank.gemms.end, (TimeColumn{1000, 520, 710}));
  EXPECT_EQ(rank.threads[rank.gemms.thread[0]].tid, 1);
  const GemmShape& first = rank.gemm_shapes[rank.gemms.shape[0]];
  EXPECT_EQ(rank.string(first.function), "cublasSgemm_v2");
  EXPECT_EQ(first.type_c, -1);
  EXPECT_EQ(first.compute_type, -1);
  EXPECT_FALSE(first.is_convolution());
  EXPECT_EQ(rank.gemm_shapes[rank.gemms.shape[2]].least_bytes, 700);
  const GemmShape& second = rank.gemm_shapes[rank.gemms.shape[1]];
  EXPECT_EQ(second.m, 8);
  EXPECT_EQ(second.n, 9);
  EXPECT_EQ(second.k, 10);
  EXPECT_EQ(second.batch, 3);
  EXPECT_FALSE(second.trans_a);
  EXPECT_TRUE(second.trans_b);
  EXPECT_EQ(second.type_a, 14);
  EXPECT_EQ(second.compute_type, 68);
  EXPECT_EQ(rank.end, 1000) << "the last thing seen";
}

TEST_F(ReadLibraryCallsTest, AttentionCalls) {
  RunDbFixture file(path_, {.end_ns = std::nullopt});
  file.AddAttention({.start_ns = 500, .dur_ns = std::nullopt, .direction = 2});
  file.AddAttention({.start_ns = 100,
                     .dur_ns = 900,
                     .gradient = std::nullopt,
                     .batch = std::nullopt,
                     .heads = 16,
                     .kv_heads = 4,
                     .query_length = std::nullopt,
                     .key_length = -9,
                     .head_size = 96,
                     .value_head_size = 48,
                     .type = std::nullopt,
                     .causal = 1,
                     .tid = 1});
  file.Execute("INSERT INTO attention VALUES (1, 2, 99, 1, 1, 1)");
  file.Execute("INSERT INTO attention VALUES (1, 2, 1, 99, 1, 1)");
  file.Execute("INSERT INTO attention VALUES (1, 2, 1, 1, 3, 1)");
  file.Close();
  const RecordedFile read = Read();
  const Rank& rank = read.ranks[0];
  EXPECT_EQ(read.notes.size(), 4U);
  const Attentions& attentions = rank.attentions;
  ASSERT_EQ(attentions.start, (TimeColumn{100, 500})) << "by start";
  EXPECT_EQ(attentions.end, (TimeColumn{1000, kOpen}));
  EXPECT_EQ(rank.threads[attentions.thread[0]].tid, 1);
  EXPECT_EQ(attentions.backward, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(attentions.gradient, (std::vector<std::int8_t>{-1, 1}));
  const AttentionShape& first = rank.attention_shapes[attentions.shape[0]];
  EXPECT_EQ(first.library, 1);
  EXPECT_EQ(first.batch, -1);
  EXPECT_EQ(first.heads, 16);
  EXPECT_EQ(first.kv_heads, 4);
  EXPECT_EQ(first.query_length, -1);
  EXPECT_EQ(first.key_length, -1);
  EXPECT_EQ(first.head_size, 96);
  EXPECT_EQ(first.value_head_size, 48);
  EXPECT_EQ(first.type, -1);
  EXPECT_EQ(first.causal, 1);
  EXPECT_EQ(rank.end, 1000) << "the last thing seen";
}

}  // namespace
}  // namespace traceinject
