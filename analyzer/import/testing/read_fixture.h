// SPDX-License-Identifier: Apache-2.0
// What tests of reading a recording begin with: a file to write, and its reader.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "analyzer/import/open/open_recording.h"
#include "analyzer/import/run_db/read_run_db.h"
#include "analyzer/import/testing/run_db_fixture.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {

class ReadFixture : public testing::Test {
 protected:
  RecordedFile Read(std::uint64_t most_rows = 0) {
    auto read = TryRead(most_rows);
    EXPECT_TRUE(read.ok()) << read.error();
    return read.ok() ? std::move(read).value() : RecordedFile();
  }
  Result<RecordedFile> TryRead(std::uint64_t most_rows = 0) {
    const auto database = OpenRecording(path_);
    if (!database.ok()) return Error{database.error()};
    return ReadRunDb(database.value(), progress_, {.most_rows = most_rows});
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db";
  ReadProgress progress_;
};

}  // namespace traceinject
