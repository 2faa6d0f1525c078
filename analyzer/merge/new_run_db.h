// SPDX-License-Identifier: Apache-2.0
// A run.db that is being made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/import/source/new_database.h"

namespace traceinject {

// Whether a file may be written there: not over one of `inputs` (see run_paths.h), and over another
// one only if it may be replaced.
Status ExpectFree(const std::string& output, bool replace, const std::vector<std::string>& inputs);

class NewRunDb : public NewDatabase {
 public:
  // Beside `path`, with the present schema and no rows, in a transaction.
  static Result<NewRunDb> Create(const std::string& path);
  // The same in the folder of temporary files, never to be kept.
  static Result<NewRunDb> CreateTemporary();

  // What the file says of itself; as a whole it is closed.
  Status WriteMeta(std::int64_t base_ns, std::string_view tool_version, std::string_view run_id);

 private:
  static Result<NewRunDb> CreateIn(Result<TemporaryFile> file, const std::string& name);
  explicit NewRunDb(NewDatabase made) : NewDatabase(std::move(made)) {}
};

}  // namespace traceinject
