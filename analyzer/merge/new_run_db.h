// SPDX-License-Identifier: Apache-2.0
// A run.db that is being made. Until it is whole it has another name, and it disappears with its
// owner, or when a signal ends the process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"
#include "analyzer/import/source/temporary_file.h"

namespace traceinject {

// Whether a file may be written there: not over one of `inputs` (see run_paths.h), and over another
// one only if it may be replaced.
Status ExpectFree(const std::string& output, bool replace, const std::vector<std::string>& inputs);

class NewRunDb {
 public:
  // Beside `path`, with the present schema and no rows, in a transaction.
  static Result<NewRunDb> Create(const std::string& path);
  // The same in the folder of temporary files, never to be kept.
  static Result<NewRunDb> CreateTemporary();

  // What the file says of itself; as a whole it is closed.
  Status WriteMeta(std::int64_t base_ns, std::string_view tool_version, std::string_view run_id);

  // Ends the transaction, and lets go of the memory that writing took: nothing can be written after
  // it.
  Status Commit();
  // Gives the file its name, in place of what has it.
  Status Keep(const std::string& path) { return file_.Keep(path); }

  const Database& database() const { return *database_; }
  // Where it is until it is kept.
  const std::string& path() const { return file_.path(); }

 private:
  static Result<NewRunDb> CreateIn(Result<TemporaryFile> file, const std::string& name);
  NewRunDb(TemporaryFile file, Database database)
      : file_(std::move(file)), database_(std::move(database)) {}

  TemporaryFile file_;
  std::optional<Database> database_;
};

}  // namespace traceinject
