// SPDX-License-Identifier: Apache-2.0
// For tests: a folder that plays /proc and /sys, gone at the end.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "machine/testing/temporary_folder.h"

namespace traceinject {

class FakeRoot : public TemporaryFolder {
 public:
  void Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(*this / name).parent_path());
    std::ofstream(*this / name, std::ios::binary) << text;
  }
  void Link(const std::string& name, const std::string& target) const {
    std::filesystem::create_directories(std::filesystem::path(*this / name).parent_path());
    std::filesystem::remove(*this / name);
    std::filesystem::create_symlink(target, *this / name);
  }
  void Remove(const std::string& name) const { std::filesystem::remove_all(*this / name); }
};

// A line of /proc/<pid>/stat.
struct FakeStat {
  long pid = 1;
  char state = 'S';
  long parent = 1, minor = 0, major = 0, user = 0, system = 0, start = 0;

  std::string Text() const {
    const auto n = [](long value) { return " " + std::to_string(value); };
    return std::to_string(pid) + " (a ) name)" + " " + state + n(parent) + " 1 1 0 -1 4194304" +
           n(minor) + " 0" + n(major) + " 0" + n(user) + n(system) + " 0 0 20 0 1 0" + n(start) +
           " 4096 1 18446744073709551615\n";
  }
};

}  // namespace traceinject
