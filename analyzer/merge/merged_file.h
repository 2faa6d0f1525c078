// SPDX-License-Identifier: Apache-2.0
// A run.db that several recordings are put into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/import/run_db/read_run_db.h"
#include "analyzer/merge/merge_plan.h"
#include "analyzer/merge/merge_tables.h"
#include "analyzer/merge/new_run_db.h"

namespace traceinject {

class MergedFile {
 public:
  // Begins the file that is to have the name `path`, with the present schema and no processes.
  static Result<MergedFile> Create(const std::string& path, const MergePlan& plan,
                                   const std::string& tool_version);

  // Adds all rows of a recording of one process, of whatever schema version. Its ids go behind
  // those that are there; one that no row has becomes 0, which is no id. O(rows).
  Status Add(const MergeSource& source, ReadProgress& progress);

  // Gives the file its name, in place of what has it.
  Status Finish();

  std::int64_t rows() const { return rows_; }
  // Rows that broke the schema's rules and were left out, in sentences.
  std::vector<std::string> Notes() const;

 private:
  class Copy;

  MergedFile(std::string path, NewRunDb file, std::vector<MergeTable> tables)
      : path_(std::move(path)), file_(std::move(file)), tables_(std::move(tables)) {}

  std::string path_;
  NewRunDb file_;
  std::vector<MergeTable> tables_;
  std::int64_t rows_ = 0;
  std::map<std::pair<std::string, std::string>, std::int64_t> left_out_;  // by path and table
};

}  // namespace traceinject
