// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/layout/kernel_names.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace traceinject {
namespace {

std::string Short(const std::string& name, std::size_t width = 80) {
  return ShortKernelNames({name}, width)[0];
}

TEST(KernelNamesTest, StripsWhatSaysLittle) {
  EXPECT_EQ(Short("ampere_sgemm_128x64_nn"), "ampere_sgemm_128x64_nn");
  EXPECT_EQ(Short("void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, "
                  "float>(float*, int)"),
            "cunn_SoftMaxForward");
  EXPECT_EQ(Short("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
            "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
  EXPECT_EQ(Short("void f<decltype(a->b)>(int)"), "f");
}

constexpr const char* kAdd =
    "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, "
    "at::detail::Array<char*, 3> >(int)";
constexpr const char* kLambda =
    "void at::native::vectorized_elementwise_kernel<4, "
    "at::native::sqrt_kernel_cuda(at::TensorIteratorBase&)::{lambda()#1}::"
    "operator()() const::{lambda(float)#2}, at::detail::Array<char*, 2> >(int)";

TEST(KernelNamesTest, KeepsArgumentsThatTellNamesApart) {
  const auto texts = ShortKernelNames({kAdd, kLambda, "gemm<int>"}, 100);
  EXPECT_EQ(texts[0], "vectorized_elementwise_kernel<4, AddFunctor, Array>");
  EXPECT_EQ(texts[1],
            "vectorized_elementwise_kernel<4, sqrt_kernel_cuda::{lambda#1}::{lambda#2}, Array>");
  EXPECT_EQ(texts[2], "gemm");
}

TEST(KernelNamesTest, ScopesMayHaveTemplateArguments) {
  const auto texts = ShortKernelNames(
      {"void k<2, n::impl<n::add<float> >(n::It&)::{lambda(int)#1}>(int)", "k<3>"}, 80);
  EXPECT_EQ(texts[0], "k<2, impl::{lambda#1}>");
  EXPECT_EQ(Short("std::vector<std::pair<int, n::x> >::push_back(int)"), "push_back");
}

TEST(KernelNamesTest, LongNamesLoseTheirMiddle) {
  const std::string text = Short(std::string(60, 'a') + std::string(60, 'b'), 30);
  EXPECT_LE(text.size(), 30u);
  EXPECT_EQ(text.front(), 'a');
  EXPECT_EQ(text.back(), 'b');
}

TEST(KernelNamesTest, EqualNamesStayEqualAndDifferentOnesDifferent) {
  const std::string a = std::string(50, 'x') + "1" + std::string(50, 'y'),
                    b = std::string(50, 'x') + "2" + std::string(50, 'y');
  const auto texts = ShortKernelNames({a, b, a}, 30);
  EXPECT_EQ(texts[0], texts[2]);
  EXPECT_NE(texts[0], texts[1]);
}

TEST(KernelNamesTest, AnyTextComesOutUniqueAndNarrow) {
  std::mt19937 random(3);
  const std::string letters = "ab<>(),: -{}const::operator";
  std::vector<std::string> names;
  for (int i = 0; i < 500; ++i) {
    std::string name;
    for (int length = static_cast<int>(random() % 60); length > 0; --length)
      name += letters[random() % letters.size()];
    names.push_back(name);
  }
  const auto texts = ShortKernelNames(names, 24);
  ASSERT_EQ(texts.size(), names.size());
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(),
            std::set<std::string>(names.begin(), names.end()).size());
  for (const std::string& text : texts) EXPECT_LE(text.size(), 24u) << text;
}

}  // namespace
}  // namespace traceinject
