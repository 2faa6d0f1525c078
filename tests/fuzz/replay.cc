// SPDX-License-Identifier: Apache-2.0
// fuzz_replay SEEDS: every target reads what the folder of its name in SEEDS holds.
// fuzz_replay TARGET FILE...: one reads these files, such as those that crashed it.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/target.h"

namespace traceinject {
namespace {

// How many of the files something is wrong with.
int Replay(const FuzzTarget& target, const std::vector<std::filesystem::path>& files) {
  int wrong = 0;
  for (const auto& path : files) {
    std::fprintf(stderr, "%s: %s\n", std::string(target.name).c_str(), path.c_str());
    std::ifstream file(path, std::ios::binary);
    const std::string input((std::istreambuf_iterator<char>(file)), {});
    const std::string said = target.run(input);
    if (said.empty()) continue;
    ++wrong;
    std::fprintf(stderr, "%s", said.c_str());
  }
  return wrong;
}

int ReplayFolders(const std::filesystem::path& seeds) {
  int wrong = 0;
  for (const FuzzTarget& target : FuzzTargets()) {
    std::vector<std::filesystem::path> files;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(seeds / target.name, none))
      files.push_back(entry.path());
    if (files.empty()) {
      std::fprintf(stderr, "%s: no seeds\n", std::string(target.name).c_str());
      ++wrong;
    }
    wrong += Replay(target, files);
  }
  return wrong;
}

}  // namespace
}  // namespace traceinject

int main(int argc, char** argv) {
  if (argc == 2) return traceinject::ReplayFolders(argv[1]) == 0 ? 0 : 1;
  const auto* target = argc > 2 ? traceinject::FindFuzzTarget(argv[1]) : nullptr;
  if (target != nullptr)
    return traceinject::Replay(*target,
                               std::vector<std::filesystem::path>(argv + 2, argv + argc)) == 0
               ? 0
               : 1;
  std::fprintf(stderr, "usage: fuzz_replay SEEDS | fuzz_replay TARGET FILE...; targets:\n");
  for (const auto& known : traceinject::FuzzTargets())
    std::fprintf(stderr, "  %-16s %s\n", std::string(known.name).c_str(),
                 std::string(known.what).c_str());
  return 2;
}
