// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "analyzer/model/kernel_class.h"

namespace traceinject {
namespace {

TEST(KernelClassDocument, NamesEveryClassWithItsTitle) {
  std::ifstream file(TRACEINJECT_DOCS "/formats.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  for (const KernelClass kernel_class : AllKernelClasses()) {
    const std::string row = "| `" + std::string(KernelClassName(kernel_class)) + "` | " +
                            std::string(KernelClassTitle(kernel_class)) + " |";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace traceinject
