// SPDX-License-Identifier: Apache-2.0
#include "injector/environment/installed_library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string.h>

#include <string>

namespace traceinject {
namespace {

bool Finds(const char* name, std::string* path) {
  char found[PATH_MAX] = "";
  const bool is_there = FindInstalledLibrary(name, reinterpret_cast<const void*>(&Finds), found);
  *path = found;
  return is_there;
}

TEST(InstalledLibraryTest, WhatIsLoadedIsFound) {
  std::string path;
  EXPECT_TRUE(Finds("libc.so.6", &path));
  EXPECT_NE(path.find("/libc.so.6"), std::string::npos);
}

TEST(InstalledLibraryTest, WhatIsInstalledIsFoundWithoutBeingLoaded) {
  std::string path;
  EXPECT_TRUE(Finds("libnss_compat.so.2", &path)) << "a part of every C library";
  EXPECT_EQ(dlopen("libnss_compat.so.2", RTLD_LAZY | RTLD_NOLOAD), nullptr);
}

TEST(InstalledLibraryTest, WhatIsNotThereIsNotFound) {
  std::string path;
  EXPECT_FALSE(Finds("libno-such-library-of-anybody.so", &path));
  EXPECT_EQ(dlerror(), nullptr) << "the program's own errors stay its own";
}

TEST(InstalledLibraryTest, NamesInTheLoadersCache) {
  const auto is_in = [](const std::string& cache) {
    return IsInLoaderCache(cache.data(), cache.size(), "libx.so");
  };
  using namespace std::string_literals;
  EXPECT_TRUE(is_in("head\0libx.so\0more\0"s));
  EXPECT_TRUE(is_in("head\0/usr/lib/libx.so\0"s)) << "as the end of its path";
  EXPECT_TRUE(is_in("head\0glibx.so\0libx.so\0"s));
  EXPECT_FALSE(is_in("head\0libx.so.1\0glibx.so\0"s));
  EXPECT_FALSE(is_in("head\0libx.s"s));
  EXPECT_FALSE(is_in(""s));
}

}  // namespace
}  // namespace traceinject
