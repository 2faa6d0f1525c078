// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/demangle.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(Demangle, TurnsMangledNamesIntoSource) {
  EXPECT_EQ(Demangle("_ZN2at6native10gatherTopKIfEEvPT_"),
            "void at::native::gatherTopK<float>(float*)");
}

TEST(Demangle, LeavesOtherNamesAlone) {
  EXPECT_EQ(Demangle("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
  EXPECT_EQ(Demangle("_Znonsense!"), "_Znonsense!");
  EXPECT_EQ(Demangle(""), "");
  const std::string endless = "_Z" + std::string(1'000'000, 'P');
  EXPECT_EQ(Demangle(endless), endless);
}

}  // namespace
}  // namespace traceinject
