// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/kineto/operator_inputs.h"

#include <gtest/gtest.h>

#include <string>

namespace traceinject {
namespace {

using Inputs = std::vector<OperatorInput>;
using Texts = std::vector<std::string_view>;

TEST(OperatorInputsTest, SizesOfTensorsAndOfListsOfThem) {
  EXPECT_EQ(ParseInputDims("[[32, 64], [], [[8], [2,3]], [[]]]"),
            (Inputs{{{32, 64}}, {{}}, {{8}, {2, 3}}, {{}}}));
  EXPECT_EQ(ParseInputDims("[]"), Inputs());
}

TEST(OperatorInputsTest, TextsAndTheFirstOfThoseInAList) {
  EXPECT_EQ(ParseTexts(R"(["float", "", "[2, 2]", ["c10::Half", "int"], "a\"b"])"),
            (Texts{"float", "", "[2, 2]", "c10::Half", R"(a\"b)"}));
}

TEST(OperatorInputsTest, AnythingElseIsRead) {
  for (const char* text : {"", "[", "]]]", "[[[[1]]]]", "[[99999999999999999999999]]", "[\"",
                           "[\"\\", "{\"a\": [1]}", "[[1, \"x\"], 2]", "[-1, [-5]]"}) {
    ParseInputDims(text);
    ParseTexts(text);
    ParseNumbers(text);
  }
  EXPECT_EQ(ParseInputDims("[[99999999999999999999999]]"), (Inputs{{{-1}}}));
  EXPECT_EQ(CountElements({1 << 30, 1 << 30, 1 << 30}), -1);
  EXPECT_EQ(CountElements({}), 1);
}

TEST(OperatorInputsTest, TypesHaveTwoNames) {
  EXPECT_EQ(FindTensorType("c10::BFloat16")->cuda_type, 14);
  EXPECT_EQ(FindTensorType("BFloat16")->bytes, 2);
  EXPECT_EQ(FindTensorType("GenericList"), nullptr);
}

}  // namespace
}  // namespace traceinject
