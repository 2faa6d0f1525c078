// SPDX-License-Identifier: Apache-2.0
// Builds small exports of Nsight Systems for tests: the tables and columns of NVIDIA's schema
// reference that are read. For tests only: a failure throws std::runtime_error.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/common/sqlite.h"

namespace traceinject {

class NsysFixture {
 public:
  // With the tables of most exports, and none of the rows.
  explicit NsysFixture(const std::string& path);

  // Any SQL.
  void Execute(const std::string& sql);

  // globalTid of a thread; of a whole process for thread 0.
  static std::int64_t GlobalId(std::int64_t pid, std::int64_t tid = 0) {
    return std::int64_t{1} << 48 | pid << 24 | tid;
  }
  // Returns the id in StringIds.
  std::int64_t AddString(const std::string& text);
  void AddApi(std::int64_t start_ns, std::int64_t end_ns, const std::string& name,
              std::int64_t correlation, std::int64_t pid = 100, std::int64_t tid = 100);
  void AddKernel(std::int64_t start_ns, std::int64_t end_ns, const std::string& name,
                 std::int64_t correlation, std::int64_t pid = 100);
  void AddRange(std::int64_t start_ns, std::int64_t end_ns, const std::string& text,
                std::int64_t pid = 100, std::int64_t tid = 100);

 private:
  Database database_;
};

}  // namespace traceinject
