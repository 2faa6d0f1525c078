// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/import/source/new_file.h"

namespace traceinject {

Status WriteOutput(const std::string& path, std::string_view data) {
  if (path == "-") {
    const bool written = std::fwrite(data.data(), 1, data.size(), stdout) == data.size();
    // A full disk often shows only now.
    if (written && std::fflush(stdout) == 0) return Done{};
    return Error{fmt::format("stdout: write failed ({})", std::strerror(errno))};
  }
  const WriteFailure failure = WriteWhole(path, data);
  if (failure.error == 0) return Done{};
  return Error{fmt::format("{}: {} ({})", path, failure.opened ? "write failed" : "cannot write",
                           std::strerror(failure.error))};
}

int WriteOrExplain(const std::string& program, const std::string& path, std::string_view data) {
  const Status written = WriteOutput(path, data);
  if (written.ok()) return kReported;
  fmt::print(stderr, "{}: {}\n", program, written.error());
  return kUnreadable;
}

}  // namespace traceinject
