// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/try/scratch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "analyzer/tries/tries_file.h"

namespace traceinject {

namespace fs = std::filesystem;

Scratch::Scratch(const std::string& folder, bool keep) : keep_(keep) {
  std::error_code error;
  folder_ = fs::absolute(folder, error).lexically_normal();
  made_folder_ = fs::create_directories(folder_, error);
  path_ = folder_ / fmt::format("runs.{}", getpid());
  made_ = fs::create_directory(path_, error);
  why_ = error.message();
}

Scratch::~Scratch() {
  std::error_code error;
  if (!made_ || keep_) return;
  fs::remove_all(path_, error);
  if (made_folder_) fs::remove(folder_, error);  // where nothing else is in it
}

std::string Scratch::tries_file() const { return (folder_ / kTriesFile).string(); }

void Scratch::Clear() const {
  std::error_code error;
  if (keep_) return;
  for (const auto& entry : fs::directory_iterator(path_, error)) fs::remove_all(entry, error);
}

}  // namespace traceinject
