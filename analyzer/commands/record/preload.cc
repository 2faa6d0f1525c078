// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/preload.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/commands/record/record_commands.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

constexpr char kPreloadProgram[] = "analyze preload";
constexpr char kLibrary[] = "libtraceinject.so";

}  // namespace

Result<std::string> FindPreloadLibrary(const std::string& program_folder,
                                       const std::string& override_path) {
  std::error_code error;
  if (!override_path.empty()) {
    if (fs::is_regular_file(override_path, error))
      return fs::weakly_canonical(override_path).string();
    return Error{
        fmt::format("TRACEINJECT_LIBRARY is set to {}, which is not a file: correct or unset it",
                    override_path)};
  }
  std::string tried;
  for (const char* folder : {".", "../lib", "../lib/traceinject"}) {
    const fs::path candidate = (fs::path(program_folder) / folder / kLibrary).lexically_normal();
    if (fs::is_regular_file(candidate, error)) return fs::weakly_canonical(candidate).string();
    tried += "\n  " + candidate.string();
  }
  return Error{
      fmt::format("{} was not found. Searched:{}\nBuild it (cmake --preset release && cmake "
                  "--build --preset release; this needs the CUDA headers), put it next to this "
                  "program, or set TRACEINJECT_LIBRARY=/path/{}",
                  kLibrary, tried, kLibrary)};
}

int RunPreload(const std::vector<std::string>& arguments) {
  CLI::App app("Prints the absolute path of libtraceinject.so.", kPreloadProgram);
  app.footer(
      "Examples:\n"
      "  LD_PRELOAD=$(analyze preload) python train.py\n"
      "  LD_PRELOAD=$(analyze preload) torchrun --nproc-per-node 8 train.py\n");
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const char* override_path = std::getenv("TRACEINJECT_LIBRARY");
  const auto library = FindPreloadLibrary(program.parent_path().string(),
                                          override_path != nullptr ? override_path : "");
  if (!library.ok()) {
    fmt::print(stderr, "{}: {}\n", kPreloadProgram, library.error());
    return kUnreadable;
  }
  fmt::print("{}\n", library.value());
  return kReported;
}

}  // namespace traceinject
