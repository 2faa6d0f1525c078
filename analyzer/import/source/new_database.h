// SPDX-License-Identifier: Apache-2.0
// A database of SQLite that is being made. Until it is whole it has another name, and it disappears
// with its owner, or when a signal ends the process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"
#include "analyzer/import/source/temporary_file.h"

namespace traceinject {

class NewDatabase {
 public:
  // In `file`, which errors call `name`, with what `schema` makes, in a transaction.
  static Result<NewDatabase> In(Result<TemporaryFile> file, const std::string& name,
                                std::string_view schema);

  // Ends the transaction, and lets go of the memory that writing took: nothing can be written after
  // it.
  Status Commit();
  // Gives the file its name, in place of what has it.
  Status Keep(const std::string& path) { return file_.Keep(path); }

  const Database& database() const { return *database_; }
  // Where it is until it is kept.
  const std::string& path() const { return file_.path(); }

 private:
  NewDatabase(TemporaryFile file, Database database)
      : file_(std::move(file)), database_(std::move(database)) {}

  TemporaryFile file_;
  std::optional<Database> database_;
};

}  // namespace traceinject
