// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/preload.h"

#include <gtest/gtest.h>

#include <fstream>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

TEST(Preload, LooksBesideTheProgramAndInLib) {
  const TemporaryFolder folder;
  const std::string bin = folder / "bin", lib = folder / "lib";
  fs::create_directory(bin);
  fs::create_directory(lib);
  const auto missing = FindPreloadLibrary(bin, "");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().find(lib + "/libtraceinject.so"), std::string::npos) << missing.error();
  EXPECT_NE(missing.error().find("cmake --preset release"), std::string::npos) << missing.error();

  std::ofstream(lib + "/libtraceinject.so") << "x";
  EXPECT_EQ(FindPreloadLibrary(bin, "").value(), fs::canonical(lib + "/libtraceinject.so"));
  std::ofstream(bin + "/libtraceinject.so") << "x";
  EXPECT_EQ(FindPreloadLibrary(bin, "").value(), fs::canonical(bin + "/libtraceinject.so"));
}

TEST(Preload, OverrideWins) {
  const TemporaryFolder folder;
  std::ofstream(folder / "mine.so") << "x";
  EXPECT_EQ(FindPreloadLibrary("/nowhere", folder / "mine.so").value(),
            fs::canonical(folder / "mine.so"));
  const auto wrong = FindPreloadLibrary("/nowhere", folder / "not-there.so");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().find("TRACEINJECT_LIBRARY"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
